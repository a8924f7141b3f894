// The programs that the meter is measured with; only the C library, so that they start at once.
// Times are of CLOCK_MONOTONIC, in nanoseconds.
//   probe stamp
//       prints when it began and when it ended
//   probe run PROGRAM ARGUMENTS
//       the least that a wrapper can do: starts it and waits for it
//   probe sample DIRECTORY INTERVAL_NS SECONDS FILE
//       the least that a sampler can do: reads the meters of the tree, if there are any, at fixed
//       ticks, and writes the times to FILE in the end
//   probe wave FILE HIGH_W LOW_W HALF_PERIOD_S SECONDS
//       writes a square wave to a meter's file (half period 0: HIGH_W all the time, then LOW_W),
//       and prints its energy in J
//   probe signals COUNT
//       prints when each of so many SIGUSR1 arrived
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

namespace {

constexpr long long second_ns = 1'000'000'000;
constexpr int most_meters = 64;

long long now_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * second_ns + now.tv_nsec;
}

void sleep_until(long long time_ns) {
  const timespec time{time_ns / second_ns, time_ns % second_ns};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr);
}

[[noreturn]] void fail(const char* what) {
  perror(what);
  exit(1);
}

int stamp(long long begin_ns) {
  char text[64];
  const int length = snprintf(text, sizeof text, "%lld %lld\n", begin_ns, now_ns());
  _exit(write(STDOUT_FILENO, text, static_cast<size_t>(length)) == length ? 0 : 1);
}

int run(char** arguments) {
  const pid_t program = vfork();
  if (program == 0) {
    execvp(arguments[0], arguments);
    _exit(127);
  }
  int status;
  if (program < 0 || waitpid(program, &status, 0) != program)
    fail(arguments[0]);
  return WEXITSTATUS(status);
}

int sample(const char* directory, long long interval_ns, double seconds, const char* file) {
  int meters[most_meters];
  int count = 0;
  char path[4096];
  while (count < most_meters) {
    snprintf(path, sizeof path, "%s/hwmon%d/device/power1_average", directory, count);
    if ((meters[count] = open(path, O_RDONLY)) < 0)
      break;
    ++count;
  }
  prctl(PR_SET_TIMERSLACK, 1UL);
  const auto ticks = static_cast<long long>(seconds * second_ns) / interval_ns;
  FILE* const output = fopen(file, "w");
  auto* times_ns = static_cast<long long*>(malloc(static_cast<size_t>(ticks) * sizeof(long long)));
  if (!output || !times_ns)
    fail(file);
  const long long begin_ns = now_ns();
  double sum_w = 0;
  for (long long k = 0; k < ticks; ++k) {
    sleep_until(begin_ns + (k + 1) * interval_ns);
    times_ns[k] = now_ns();
    for (int i = 0; i < count; ++i) {
      char text[32] = {};
      if (pread(meters[i], text, sizeof text - 1, 0) <= 0)
        fail("pread");
      sum_w += atof(text) * 1e-6;
    }
  }
  for (long long k = 0; k < ticks; ++k)
    fprintf(output, "%.9f\n", static_cast<double>(times_ns[k] - begin_ns) / second_ns);
  fclose(output);
  free(times_ns);
  return count == 0 || sum_w > 0 ? 0 : 1;
}

int wave(const char* file, double high_w, double low_w, double half_period_s, double seconds) {
  const int meter = open(file, O_WRONLY);
  if (meter < 0)
    fail(file);
  const auto set_power = [&](double power_w) {
    char text[32];
    const int length = snprintf(text, sizeof text, "%.0f\n", power_w * 1e6);
    if (pwrite(meter, text, static_cast<size_t>(length), 0) != length)
      fail(file);
    return now_ns();
  };
  const double levels_w[] = {high_w, low_w};
  const double step_s = half_period_s > 0 ? half_period_s : seconds;
  const auto steps = static_cast<int>(seconds / step_s + 1e-6);
  const long long begin_ns = set_power(levels_w[0]);
  long long since_ns = begin_ns;
  double energy_j = 0;
  for (int k = 0; k < steps; ++k) {
    sleep_until(begin_ns + static_cast<long long>((k + 1) * step_s * second_ns));
    const long long until_ns = set_power(k + 1 < steps ? levels_w[(k + 1) % 2] : low_w);
    energy_j += levels_w[k % 2] * static_cast<double>(until_ns - since_ns) / second_ns;
    since_ns = until_ns;
  }
  printf("%.6f\n", energy_j);
  return 0;
}

int signals(int count) {
  sigset_t wanted;
  sigemptyset(&wanted);
  sigaddset(&wanted, SIGUSR1);
  sigprocmask(SIG_BLOCK, &wanted, nullptr);
  setvbuf(stdout, nullptr, _IOLBF, 0);
  printf("ready\n");
  for (int k = 0; k < count; ++k) {
    sigwaitinfo(&wanted, nullptr);
    printf("%lld\n", now_ns());
  }
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  const long long begin_ns = now_ns();
  const char* const mode = count > 1 ? arguments[1] : "";
  if (strcmp(mode, "stamp") == 0)
    return stamp(begin_ns);
  if (strcmp(mode, "run") == 0 && count > 2)
    return run(arguments + 2);
  if (strcmp(mode, "sample") == 0 && count == 6)
    return sample(arguments[2], atoll(arguments[3]), atof(arguments[4]), arguments[5]);
  if (strcmp(mode, "wave") == 0 && count == 7)
    return wave(arguments[2], atof(arguments[3]), atof(arguments[4]), atof(arguments[5]),
                atof(arguments[6]));
  if (strcmp(mode, "signals") == 0 && count == 3)
    return signals(atoi(arguments[2]));
  fputs("probe stamp|run|sample|wave|signals, see its source\n", stderr);
  return 2;
}
