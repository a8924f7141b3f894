// floor COUNT: the least that runs COUNT commands as `bench` runs those of local.yaml.in: as many
// shells at a time as the process may use cores, each in a directory of its own, with the same
// files left behind, below a new directory here. Nothing is remembered, read or checked.

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace {

void need(bool ok, const std::string& what) {
  if (ok)
    return;
  std::perror(what.c_str());
  std::exit(1);
}

std::string directory_of(const std::string& run, int number) {
  char name[32];
  std::snprintf(name, sizeof name, "/%06d_work", number);
  return run + name;
}

int open_new(const std::string& file) {
  const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  need(fd >= 0, file);
  return fd;
}

pid_t start(const std::string& run, int number) {
  const std::string directory = directory_of(run, number);
  const std::string work = directory + "/work";
  need(::mkdir(directory.c_str(), 0777) == 0, directory);
  need(::mkdir(work.c_str(), 0777) == 0, work);
  const int out = open_new(work + "/stdout");
  const int err = open_new(work + "/stderr");
  const std::string n = std::to_string(number);
  const std::string command = "echo value=" + n + " rate=" + n + ".5 unit=s";
  const std::string script = "eval \"$1\"\nstatus=$?\necho attempt > " + directory +
                             "/sentinel; echo exit_code=$status >> " + directory + "/sentinel";
  const char* const arguments[] = {"/bin/sh",       "-c",   script.c_str(), "/bin/sh",
                                   command.c_str(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, work.c_str());
  posix_spawn_file_actions_adddup2(&actions, out, 1);
  posix_spawn_file_actions_adddup2(&actions, err, 2);
  pid_t pid = 0;
  const int failure = ::posix_spawn(&pid, arguments[0], &actions, nullptr,
                                    const_cast<char* const*>(arguments), environ);
  errno = failure;
  need(failure == 0, "posix_spawn");
  posix_spawn_file_actions_destroy(&actions);
  ::close(out);
  ::close(err);
  return pid;
}

int usable_cpus() {
  cpu_set_t cpus;
  need(::sched_getaffinity(0, sizeof cpus, &cpus) == 0, "sched_getaffinity");
  return CPU_COUNT(&cpus);
}

/// @param numbers of the workpackages that run, by place, each with its process
void finish_one(const std::string& run, pid_t* pids, int* numbers, int& active) {
  int status = 0;
  const pid_t ended = ::waitpid(-1, &status, 0);
  need(ended > 0 && status == 0, "waitpid");
  int place = 0;
  while (pids[place] != ended)
    ++place;
  const int done = open_new(directory_of(run, numbers[place]) + "/done");
  need(::write(done, "done\n", 5) == 5, "done");
  ::close(done);
  --active;
  pids[place] = pids[active];
  numbers[place] = numbers[active];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("floor COUNT\n", stderr);
    return 2;
  }
  const int count = std::atoi(argv[1]);
  char name[] = "floor_XXXXXX";
  need(::mkdtemp(name), name);
  char* const absolute = ::realpath(name, nullptr);
  need(absolute, name);
  const std::string run = absolute;
  const int slots = usable_cpus();
  pid_t pids[CPU_SETSIZE];
  int numbers[CPU_SETSIZE];
  int active = 0;
  for (int number = 0; number < count; ++number) {
    if (active == slots)
      finish_one(run, pids, numbers, active);
    pids[active] = start(run, number);
    numbers[active++] = number;
  }
  while (active > 0)
    finish_one(run, pids, numbers, active);
}
