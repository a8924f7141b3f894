#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/share/http_client.hpp>
#include <bench/share/mlflow.hpp>

namespace bench::mlflow {
namespace {

/// The first of these variables that is set and non-empty.
std::string variable(std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (const char* value = std::getenv(name); value && *value)
      return value;
  return "";
}

/// @param least the smallest valid value
double number_in(const char* name, double otherwise, double least) {
  const std::string text = variable({name});
  if (text.empty())
    return otherwise;
  const auto number = parse_number(text);
  constexpr double most = 1e6;
  if (!number || !(*number >= least) || *number > most)
    throw Error(Id::invalid_value, fmt::format("{} is '{}'", name, text),
                fmt::format("set it to a number of at least {:g}, or unset it", least));
  return *number;
}

/// `%40` as `@`.
std::string decoded(std::string_view text) {
  std::string plain;
  for (std::size_t k = 0; k < text.size(); ++k)
    if (text[k] == '%' && k + 2 < text.size() &&
        std::isxdigit(static_cast<unsigned char>(text[k + 1])) &&
        std::isxdigit(static_cast<unsigned char>(text[k + 2]))) {
      plain += static_cast<char>(std::stoi(std::string(text.substr(k + 1, 2)), nullptr, 16));
      k += 2;
    } else {
      plain += text[k];
    }
  return plain;
}

bool is_port(const std::string& text) {
  constexpr long long most = 65'535;
  constexpr std::size_t most_digits = 5;
  const auto number = parse_integer(text);
  return number && *number > 0 && *number <= most && text.size() <= most_digits &&
         text.find('+') == std::string::npos;
}

/// `scheme://user:password@host:port/path`.
struct Address {
  std::string scheme;
  std::string user;
  std::string password;
  std::string host;
  std::string port;  ///< Empty: that of the scheme.
  std::string path;
};

std::optional<Address> address_of(std::string_view uri) {
  Address address;
  const auto scheme = uri.find("://");
  if (scheme == std::string_view::npos)
    return std::nullopt;
  address.scheme = to_lower(uri.substr(0, scheme));
  uri.remove_prefix(scheme + 3);
  std::string_view authority = uri.substr(0, uri.find_first_of("/?#"));
  address.path = uri.substr(authority.size());
  address.path.erase(std::min(address.path.size(), address.path.find_first_of("?#")));
  while (address.path.ends_with('/'))
    address.path.pop_back();
  if (const auto at = authority.rfind('@'); at != std::string_view::npos) {
    const std::string_view user = authority.substr(0, at);
    const auto colon = user.find(':');
    address.user = decoded(user.substr(0, colon));
    if (colon != std::string_view::npos)
      address.password = decoded(user.substr(colon + 1));
    authority.remove_prefix(at + 1);
  }
  const auto colon = authority.rfind(':');
  const bool has_port =
      colon != std::string_view::npos &&
      authority.find(']', colon) == std::string_view::npos;  // not inside of [::1]
  address.host = authority.substr(0, has_port ? colon : authority.size());
  if (has_port)
    address.port = authority.substr(colon + 1);
  if (address.host.empty() || (has_port && !is_port(address.port)))
    return std::nullopt;
  return address;
}

bool is_without_proxy(const std::string& host) {
  for (const std::string& name : split_names(variable({"no_proxy", "NO_PROXY"}))) {
    const std::string domain = name.substr(name.starts_with('.') ? 1 : 0);
    if (name == "*" || host == domain || host.ends_with("." + domain))
      return true;
  }
  return false;
}

void set_proxy(const Address& address, HttpServer& server) {
  const std::string uri = address.scheme == "https" ? variable({"https_proxy", "HTTPS_PROXY"})
                                                    : variable({"http_proxy"});
  if (uri.empty() || is_without_proxy(address.host))
    return;
  const auto proxy = address_of(uri.find("://") == std::string::npos ? "http://" + uri : uri);
  if (!proxy)
    throw Error(
        Id::invalid_value, fmt::format("the proxy '{}' is not a URI", uri),
        fmt::format("correct {}_proxy, or name {} in no_proxy", address.scheme, address.host));
  server.proxy_host = proxy->host;
  constexpr int usual_port = 1080;
  server.proxy_port = static_cast<int>(parse_integer(proxy->port).value_or(usual_port));
}

}  // namespace

ServerSettings settings_of(const std::string& uri) {
  const auto address = address_of(uri);
  if (!address || (address->scheme != "http" && address->scheme != "https"))
    throw Error(Id::invalid_value,
                fmt::format("'{}' is not the URI of an MLflow server",
                            uri.find('@') == std::string::npos ? uri : "..."),
                "it begins with http:// or https://; without a server, --directory DIR writes a "
                "directory that MLflow reads");
  ServerSettings settings;
  HttpServer& server = settings.http;
  server.origin = fmt::format("{}://{}{}", address->scheme, address->host,
                              address->port.empty() ? "" : ":" + address->port);
  settings.path = address->path;
  settings.uri = server.origin + settings.path;
  server.user = address->user.empty() ? variable({"MLFLOW_TRACKING_USERNAME"}) : address->user;
  server.password =
      address->user.empty() ? variable({"MLFLOW_TRACKING_PASSWORD"}) : address->password;
  server.token = variable({"MLFLOW_TRACKING_TOKEN"});
  const std::string insecure = to_lower(variable({"MLFLOW_TRACKING_INSECURE_TLS"}));
  server.verify_certificate = insecure != "true" && insecure != "1";
  server.certificate_file = variable({"MLFLOW_TRACKING_SERVER_CERT_PATH"});
  server.timeout_s = number_in("MLFLOW_HTTP_REQUEST_TIMEOUT", server.timeout_s, 0.1);
  settings.most_retries =
      static_cast<int>(number_in("MLFLOW_HTTP_REQUEST_MAX_RETRIES", settings.most_retries, 0));
  settings.backoff_s = number_in("MLFLOW_HTTP_REQUEST_BACKOFF_FACTOR", settings.backoff_s, 0);
  set_proxy(*address, server);
  return settings;
}

}  // namespace bench::mlflow
