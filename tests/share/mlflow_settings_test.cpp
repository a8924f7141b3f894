#include "support/case_name.hpp"
#include "support/environment_variable.hpp"
#include "support/error_of.hpp"

#include <string>

#include <gmock/gmock.h>

#include <bench/share/mlflow.hpp>

namespace bench::mlflow {
namespace {

using support::EnvironmentVariable;
using support::error_of;

struct UriCase {
  std::string name;
  std::string uri;
  std::string origin;
  std::string path;
  std::string user = {};
  std::string password = {};
};

class UriTest : public testing::TestWithParam<UriCase> {};

TEST_P(UriTest, IsTakenApart) {
  const ServerSettings settings = settings_of(GetParam().uri);
  EXPECT_EQ(settings.http.origin, GetParam().origin);
  EXPECT_EQ(settings.path, GetParam().path);
  EXPECT_EQ(settings.uri, GetParam().origin + GetParam().path);
  EXPECT_EQ(settings.http.user, GetParam().user);
  EXPECT_EQ(settings.http.password, GetParam().password);
}

INSTANTIATE_TEST_SUITE_P(
    Uris, UriTest,
    testing::Values(UriCase{"Plain", "http://host:5000", "http://host:5000", ""},
                    UriCase{"Slash", "HTTPS://host/", "https://host", ""},
                    UriCase{"Path", "https://host/ml/flow/?x=1", "https://host", "/ml/flow"},
                    UriCase{"IPv6", "http://[::1]:80", "http://[::1]:80", ""},
                    UriCase{"IPv6WithoutPort", "http://[::1]", "http://[::1]", ""},
                    UriCase{"User", "http://me:a%40b@host", "http://host", "", "me", "a@b"}),
    support::case_name);

class NoServerTest : public testing::TestWithParam<const char*> {};

TEST_P(NoServerTest, IsRefused) {
  EXPECT_THAT(error_of([] { settings_of(GetParam()); }),
              testing::HasSubstr("is not the URI of an MLflow server\nhint: it begins with "
                                 "http:// or https://"));
}

INSTANTIATE_TEST_SUITE_P(Uris, NoServerTest,
                         testing::Values("", "mlruns", "file:./mlruns", "sqlite:///mlflow.db",
                                         "http://", "http://host:port", "databricks",
                                         "http://host:99999999999", "http://host:65536",
                                         "http://host:0", "http://host:-5", "http://host:+80",
                                         "http://host:"));

TEST(SettingsTest, NoMessageHasThePassword) {
  EXPECT_EQ(error_of([] { settings_of("ftp://me:secret@host"); }).find("secret"),
            std::string::npos);
}

TEST(SettingsTest, ComeFromTheVariablesOfMlflowsClients) {
  const EnvironmentVariable user("MLFLOW_TRACKING_USERNAME", "me");
  const EnvironmentVariable password("MLFLOW_TRACKING_PASSWORD", "p");
  const EnvironmentVariable token("MLFLOW_TRACKING_TOKEN", "t");
  const EnvironmentVariable insecure("MLFLOW_TRACKING_INSECURE_TLS", "true");
  const EnvironmentVariable certificate("MLFLOW_TRACKING_SERVER_CERT_PATH", "/c.pem");
  const EnvironmentVariable timeout("MLFLOW_HTTP_REQUEST_TIMEOUT", "2.5");
  const EnvironmentVariable retries("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "3");
  const ServerSettings settings = settings_of("http://host");
  EXPECT_EQ(settings.http.user, "me");
  EXPECT_EQ(settings.http.password, "p");
  EXPECT_EQ(settings.http.token, "t");
  EXPECT_FALSE(settings.http.verify_certificate);
  EXPECT_EQ(settings.http.certificate_file, "/c.pem");
  EXPECT_EQ(settings.http.timeout_s, 2.5);
  EXPECT_EQ(settings.most_retries, 3);
}

TEST(SettingsTest, AVariableThatIsNoNumberIsNamed) {
  const EnvironmentVariable timeout("MLFLOW_HTTP_REQUEST_TIMEOUT", "soon");
  EXPECT_EQ(error_of([] { settings_of("http://host"); }),
            "error: MLFLOW_HTTP_REQUEST_TIMEOUT is 'soon'\n"
            "hint: set it to a number of at least 0.1, or unset it");
}

struct ProxyCase {
  std::string name;
  std::string no_proxy;
  std::string host;
};

class ProxyTest : public testing::TestWithParam<ProxyCase> {};

TEST_P(ProxyTest, IsUsedUnlessNoProxyNamesTheHost) {
  const EnvironmentVariable proxy("https_proxy", "http://proxy.site:3128/");
  const EnvironmentVariable exceptions("no_proxy", GetParam().no_proxy);
  const HttpServer server = settings_of("https://mlflow.site.org").http;
  EXPECT_EQ(server.proxy_host, GetParam().host);
  EXPECT_EQ(server.proxy_port, GetParam().host.empty() ? 0 : 3128);
}

INSTANTIATE_TEST_SUITE_P(Hosts, ProxyTest,
                         testing::Values(ProxyCase{"None", "", "proxy.site"},
                                         ProxyCase{"Other", "else.org, ite.org", "proxy.site"},
                                         ProxyCase{"Host", "mlflow.site.org", ""},
                                         ProxyCase{"Domain", "a,.site.org", ""},
                                         ProxyCase{"All", "*", ""}),
                         support::case_name);

}  // namespace
}  // namespace bench::mlflow
