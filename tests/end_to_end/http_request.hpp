#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include <fmt/core.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <bench/base/unique_fd.hpp>

namespace bench::end_to_end {

/// An answer of HTTP/1.1, its headers and content as they came.
struct HttpAnswer {
  int status = 0;
  std::string head;
  std::string content;
};

inline UniqueFd connected_to(int port) {
  UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    throw std::runtime_error("cannot connect");
  return socket;
}

inline void send_text(const UniqueFd& socket, const std::string& text) {
  if (::send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(text.size()))
    throw std::runtime_error("cannot send");
}

/// Reads until the server closes the connection, which the request has to ask for.
inline HttpAnswer read_answer(const UniqueFd& socket) {
  std::string text;
  std::string piece(1 << 16, '\0');
  for (ssize_t got = 0; (got = ::recv(socket.get(), piece.data(), piece.size(), 0)) > 0;)
    text.append(piece, 0, static_cast<std::size_t>(got));
  const auto end = text.find("\r\n\r\n");
  if (!text.starts_with("HTTP/1.1 ") || end == std::string::npos)
    throw std::runtime_error("no answer: " + text);
  return {std::stoi(text.substr(9, 3)), text.substr(0, end + 2), text.substr(end + 4)};
}

/// What a program sends that no library keeps from it: any path, any headers.
struct HttpRequest {
  std::string method = "GET";
  std::string path = "/";
  std::string host = "127.0.0.1";
  std::string headers = "";  ///< Each with its line end.
  std::string content = "";

  std::string text() const {
    return fmt::format("{} {} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{}\r\n{}", method, path,
                       host, headers, content);
  }
};

inline HttpAnswer ask(int port, const HttpRequest& request) {
  const UniqueFd socket = connected_to(port);
  send_text(socket, request.text());
  return read_answer(socket);
}

}  // namespace bench::end_to_end
