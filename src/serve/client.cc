#include "serve/client.h"

#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/context.h"
#include "app/evaluation_request.h"
#include "app/judge.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/line_socket.h"
#include "base/local_socket.h"
#include "base/result.h"
#include "report/phase_line.h"
#include "serve/protocol.h"

namespace pragma {
namespace {

constexpr std::chrono::seconds kHelloLimit{5};

TimePoint In(std::chrono::seconds time) { return std::chrono::steady_clock::now() + time; }

void NotUsed(const ServedEvaluation& wanted, const std::string& why) {
  wanted.note("the server on " + wanted.socket.string() + " is not used: it " + why);
}

// Returns the next line. Returns nullopt if the server is gone, or sent nothing until the deadline.
Result<std::optional<std::string>> NextLine(LineSocket& server, TimePoint deadline) {
  bool open = true;
  while (true) {
    if (std::optional<std::string> line = server.NextLine()) return line;
    if (!open || server.too_long()) return std::nullopt;
    switch (server.WaitUntil(deadline)) {
      case LineSocket::Wait::kTimeout: return std::nullopt;
      case LineSocket::Wait::kInterrupted:
        return Fail(ErrorKind::kInterrupted, "stopped by the user");
      case LineSocket::Wait::kReady: open = server.Fill(); break;
    }
  }
}

// Connects to a server that judges as this process would. Returns nullopt if there is none. If
// there is a server that differs, a note says how.
Result<std::optional<LineSocket>> Connect(const ServedEvaluation& wanted) {
  std::optional<UniqueFd> socket = ConnectLocal(wanted.socket);
  if (!socket) {
    if (wanted.must_be_there) {
      wanted.note("no server listens on " + wanted.socket.string());
    }
    return std::nullopt;
  }
  if (PeerUser(socket->get()) != ::geteuid()) {
    NotUsed(wanted, "is another user's");
    return std::nullopt;
  }
  LineSocket server(std::move(*socket), kMaxServeReply);
  const std::optional<std::string> line = TRY(NextLine(server, In(kHelloLimit)));
  const Result<ServeIdentity> identity = line ? ParseHello(*line) : Fail("does not answer");
  if (!identity) {
    NotUsed(wanted, line ? "speaks another language" : "does not answer");
    return std::nullopt;
  }
  const std::string difference = IdentityOf(wanted.app).Difference(*identity);
  if (difference.empty()) return server;
  NotUsed(wanted, difference);
  return std::nullopt;
}

// Fills in what the request leaves open. Otherwise the server would fill it in from its own
// settings.
EvaluationRequest Complete(const ServedEvaluation& wanted) {
  EvaluationRequest request = wanted.request;
  request.judging = TextsOf(wanted.judging);
  return request;
}

std::string MessageOf(const ServedEvaluation& wanted, const std::string& request) {
  return RequestLine({.request = request,
                      .folder = "/",
                      .evidence = wanted.evidence,
                      .terminal = wanted.terminal,
                      .key = {}});
}

std::nullopt_t Lost(const ServedEvaluation& wanted, PhaseLine& phase, const std::string& why) {
  phase.Clear();
  wanted.note("without the server from here on: " + why);
  return std::nullopt;
}

// Waits for the verdict. Returns nullopt if the server was lost, and reports that on stderr.
Result<std::optional<Verdict>> Receive(const ServedEvaluation& wanted, LineSocket& server,
                                       PhaseLine& phase) {
  while (true) {
    const std::optional<std::string> line = TRY(NextLine(server, TimePoint::max()));
    Result<ServeReply> reply = line ? ParseReply(*line) : Fail("the server has ended");
    if (!reply) return Lost(wanted, phase, reply.error().message);
    switch (reply->kind) {
      case ServeReply::Kind::kProgress: phase.Show(reply->text); break;
      case ServeReply::Kind::kLog:
        phase.Clear();
        std::fputs((SafeText(reply->text) + "\n").c_str(), stderr);
        break;
      case ServeReply::Kind::kResult: return std::move(reply->verdict);
      case ServeReply::Kind::kFailure: return std::unexpected(std::move(reply->error));
      case ServeReply::Kind::kLost: return Lost(wanted, phase, reply->text);
    }
  }
}

}  // namespace

Result<void> AskServer(const ServedEvaluation& wanted, PhaseLine& line, std::vector<Verdict>& all) {
  std::optional<LineSocket> server = TRY(Connect(wanted));
  if (!server) return {};
  if (wanted.unprotected) {
    NotUsed(wanted, "always uses the sandbox");
    return {};
  }
  if (!wanted.app.settings.jail.empty()) {
    NotUsed(wanted, "may use another jail than --jail names");
    return {};
  }
  wanted.note("judged by the server on " + wanted.socket.string());
  const EvaluationRequest request = Complete(wanted);
  for (std::size_t i = 0; i < request.candidates.size(); ++i) {
    const Result<std::string> text = RequestText(request, i);
    const std::string message = text ? MessageOf(wanted, *text) : "";
    if (!text || message.size() > kMaxServeRequest) {
      NotUsed(wanted,
              "cannot be asked: " + (text ? "the candidate is too long" : text.error().message));
      return {};
    }
    server->Send(message);
    std::optional<Verdict> verdict = TRY(Receive(wanted, *server, line));
    if (!verdict) return {};
    all.push_back(std::move(*verdict));
  }
  return {};
}

}  // namespace pragma
