// The model that asks a hosted or local service: one POST per completion, with retries. What the
// service refuses is learnt and left out from then on.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "base/result.h"
#include "base/text.h"
#include "http/http.h"
#include "llm/backoff.h"
#include "llm/completion.h"
#include "llm/model.h"
#include "llm/models.h"
#include "llm/quirks.h"
#include "llm/service.h"
#include "llm/wire.h"

namespace pragma {
namespace {

constexpr int kMostQuirks = 12;  // how many refusals of one call may add a quirk
// How often a reply may begin and come to nothing. Such replies are often paid for.
constexpr int kMostBroken = 4;
constexpr int kTryPlain = 2;  // after so many of them that were streams, no stream is asked for
constexpr std::size_t kLeastStable = 4096;  // bytes; services cache no shorter prefixes

// Attempt: the result of one try.
struct Attempt {
  Result<Completion> outcome = Fail("not tried");
  bool retry = false;
  std::optional<Seconds> retry_after;
  bool learnt = false;    // the next try leaves out what the service refused
  bool broken = false;    // a reply began and came to nothing
  bool streamed = false;  // it was an event stream
};

// Asked: the conversation of one call.
struct Asked {
  const std::vector<Message>& messages;
  Sampling sampling;
  std::size_t stable_bytes = 0;
  [[nodiscard]] std::size_t bytes() const {
    std::size_t bytes = 0;
    for (const Message& message : messages) bytes += message.text.size();
    return bytes;
  }
};

// Several threads may call it at the same time.
class ServiceModel final : public Model {
 public:
  ServiceModel(Service service, ModelOptions options, Clock& clock)
      : service_(std::move(service)),
        options_(std::move(options)),
        clock_(clock),
        backoff_(SystemSeed()) {}

  Result<Completion> Complete(const std::vector<Message>& messages, const Sampling& sampling,
                              const CallKey& key) override;
  [[nodiscard]] std::string name() const override {
    return fmt::format("{}:{}", NamesOf(service_.protocol).prefix, service_.model);
  }

 private:
  [[nodiscard]] std::string Where() const {
    return UrlForMessages(Endpoint(service_.protocol, service_.base_url));
  }
  [[nodiscard]] std::size_t StableBytes(const std::string& role,
                                        const std::vector<Message>& messages);
  [[nodiscard]] std::string Body(const Asked& asked);
  [[nodiscard]] Result<HttpRequest> MakeRequest(std::string body) const;
  Attempt Try(const Asked& asked);
  [[nodiscard]] Attempt Judge(const HttpResponse& response) const;
  Attempt Refused(const HttpResponse& response, const Asked& asked, const std::string& body);
  bool Learn(const HttpResponse& response, const Asked& asked, const std::string& body);
  void StopStreaming();
  Result<void> WaitBeforeRetry(int retry, const Attempt& attempt);
  [[nodiscard]] std::unexpected<Error> GiveUp(ErrorKind kind, const std::string& message) const {
    return Fail(kind, WithoutKey(service_, name() + ": " + message));
  }

  Service service_;
  ModelOptions options_;
  Clock& clock_;
  std::mutex mutex_;  // guards the members below
  Backoff backoff_;
  Quirks quirks_;
  std::map<std::string, std::string, std::less<>> first_prompts_;  // by role
};

Result<Completion> ServiceModel::Complete(const std::vector<Message>& messages,
                                          const Sampling& sampling, const CallKey& key) {
  const TimePoint start = clock_.Now();
  Asked asked{.messages = messages, .sampling = sampling};
  if (options_.ask.max_tokens > 0) asked.sampling.max_tokens = options_.ask.max_tokens;
  asked.stable_bytes = StableBytes(key.role, messages);
  int learnt = 0;
  int broken = 0;
  for (int tries = 1;; ++tries) {
    Attempt attempt = Try(asked);
    if (attempt.outcome) {
      Completion completion = std::move(*attempt.outcome);
      FinishCompletion(completion, messages, options_.price);
      completion.seconds = Seconds(clock_.Now() - start).count();
      return completion;
    }
    if (attempt.learnt && learnt++ < kMostQuirks) {
      --tries;
      continue;
    }
    if (attempt.broken && ++broken == kTryPlain && attempt.streamed) StopStreaming();
    const Error& error = attempt.outcome.error();
    if (!attempt.retry) return GiveUp(error.kind, error.message);
    if (tries > options_.max_retries || broken >= kMostBroken) {
      return GiveUp(error.kind,
                    fmt::format("gave up after {} tries; the last: {}", tries, error.message));
    }
    TRY(WaitBeforeRetry(tries - 1, attempt));
  }
}

// Returns how much of the first message all prompts of the role begin with, as far as this call and
// the role's first one tell. It ends with a line.
std::size_t ServiceModel::StableBytes(const std::string& role,
                                      const std::vector<Message>& messages) {
  if (!options_.ask.prompt_cache || messages.empty()) return 0;
  const auto first = std::ranges::find_if(
      messages, [](const Message& message) { return message.role != "system"; });
  if (first == messages.end()) return 0;
  const std::scoped_lock lock(mutex_);
  const auto [known, is_first] = first_prompts_.try_emplace(role, first->text);
  if (is_first) return 0;
  const auto differs = std::ranges::mismatch(known->second, first->text);
  const auto common = static_cast<std::size_t>(differs.in1 - known->second.begin());
  const std::size_t end = common == 0 ? std::string::npos : first->text.rfind('\n', common - 1);
  return end == std::string::npos || end + 1 < kLeastStable ? 0 : end + 1;
}

std::string ServiceModel::Body(const Asked& asked) {
  const std::scoped_lock lock(mutex_);
  Sampling sampling = asked.sampling;
  if (quirks_.most_tokens > 0)
    sampling.max_tokens = std::min(sampling.max_tokens, quirks_.most_tokens);
  return RequestBody(service_.protocol,
                     {.model = service_.model,
                      .messages = asked.messages,
                      .sampling = sampling,
                      .options = options_.ask,
                      .stable_bytes = asked.stable_bytes},
                     quirks_);
}

Attempt ServiceModel::Try(const Asked& asked) {
  const std::string body = Body(asked);
  Result<HttpRequest> request = MakeRequest(body);
  if (!request) return {.outcome = std::unexpected(std::move(request).error())};
  bool answered = false;
  Result<HttpResponse> response = HttpPost(*request, &answered);
  if (response && response->status >= 200 && response->status < 300) return Judge(*response);
  if (response) return Refused(*response, asked, body);
  const bool retry = response.error().kind == ErrorKind::kUnavailable;
  return {
      .outcome = std::unexpected(std::move(response).error()), .retry = retry, .broken = answered};
}

// A service that does not stream answers in one piece, whatever was asked for.
Attempt ServiceModel::Judge(const HttpResponse& response) const {
  Result<Completion> completion = response.streamed()
                                      ? ParseStream(service_.protocol, response.body)
                                      : ParseReply(service_.protocol, response.body);
  if (completion) return {.outcome = std::move(completion)};
  Error error = completion.error();
  error.message += fmt::format(
      " (status {}, {}, from {})", response.status,
      response.content_type.empty() ? "no content type" : response.content_type, Where());
  return {.outcome = std::unexpected(std::move(error)),
          .retry = true,
          .retry_after = response.retry_after,
          .broken = true,
          .streamed = response.streamed()};
}

Attempt ServiceModel::Refused(const HttpResponse& response, const Asked& asked,
                              const std::string& body) {
  const std::string complaint = ServiceComplaint(response.body);
  if (response.status >= 300 && response.status < 400) {
    return {.outcome =
                Fail(ErrorKind::kUsage,
                     fmt::format("{} redirects to {}, which is not followed; set {} to it", Where(),
                                 response.location, NamesOf(service_.protocol).url_variable))};
  }
  if (Learn(response, asked, body)) {
    return {
        .outcome = Fail(ErrorKind::kUsage, RefusalMessage(service_, response.status, complaint)),
        .learnt = true};
  }
  if (response.status == 413 || (response.status < 500 && SaysTooLong(complaint))) {
    return {.outcome = Fail(ErrorKind::kTooLong,
                            fmt::format("{} takes no prompt of {} ({}): {}", Where(),
                                        FormatBytes(static_cast<double>(asked.bytes())),
                                        response.status, complaint))};
  }
  // An exhausted quota is not a rate limit, so waiting does not help.
  const bool no_quota = response.body.find("insufficient_quota") != std::string::npos;
  if (WorthRetrying(response.status) && !no_quota) {
    return {.outcome = Fail(ErrorKind::kUnavailable,
                            fmt::format("{} answered {}: {}", Where(), response.status, complaint)),
            .retry = true,
            .retry_after = response.retry_after};
  }
  return {.outcome = Fail(no_quota ? ErrorKind::kUnavailable : ErrorKind::kUsage,
                          RefusalMessage(service_, response.status, complaint))};
}

// Returns whether another request than `body` may be accepted.
bool ServiceModel::Learn(const HttpResponse& response, const Asked& asked,
                         const std::string& body) {
  constexpr int kNotImplemented = 501;
  const int status = response.status;
  if (status != 400 && status != 422 && status != kNotImplemented) return false;
  const std::string complaint = ServiceComplaint(response.body);
  std::string learnt;
  {
    const std::scoped_lock lock(mutex_);
    const std::int64_t most = quirks_.most_tokens > 0
                                  ? std::min(quirks_.most_tokens, asked.sampling.max_tokens)
                                  : asked.sampling.max_tokens;
    if (const auto room = RoomForReply(complaint, asked.bytes(), most)) {
      quirks_.most_tokens = *room;
      learnt = fmt::format("prompt and reply share its context: {} tokens are left", *room);
    } else if (!SaysTooLong(complaint)) {
      learnt =
          LearnQuirk({.complaint = complaint, .body = response.body, .request = body}, quirks_);
    }
  }
  // Another thread may have learnt the same in the meantime.
  if (learnt.empty()) return Body(asked) != body;
  Log(LogLevel::kInfo, fmt::format("{}: {}; it is asked in that way from now on", name(), learnt));
  return true;
}

void ServiceModel::StopStreaming() {
  const std::scoped_lock lock(mutex_);
  if (quirks_.stream) return;
  quirks_.stream = false;
  Log(LogLevel::kInfo, name() + ": its streams break off; it is asked without them from now on");
}

Result<void> ServiceModel::WaitBeforeRetry(int retry, const Attempt& attempt) {
  const Error& error = attempt.outcome.error();
  if (attempt.retry_after && *attempt.retry_after > options_.timeout) {
    return GiveUp(
        ErrorKind::kUnavailable,
        fmt::format("{}; it asks to wait {:.0f} s, longer than the time limit of {:.0f} s",
                    error.message, attempt.retry_after->count(), options_.timeout.count()));
  }
  Seconds delay{0};
  {
    const std::scoped_lock lock(mutex_);
    delay = backoff_.Delay(retry, attempt.retry_after);
  }
  if (options_.deadline && clock_.Now() + delay >= *options_.deadline) {
    return GiveUp(ErrorKind::kTimeUp,
                  fmt::format("{}; the time is up before the next try, in {:.1f} s", error.message,
                              delay.count()));
  }
  Log(LogLevel::kWarning,
      WithoutKey(service_,
                 fmt::format("{}: {}; trying again in {:.1f} s ({} of {})", name(), error.message,
                             delay.count(), retry + 1, options_.max_retries)));
  return SleepUnlessInterrupted(clock_, delay);
}

Result<HttpRequest> ServiceModel::MakeRequest(std::string body) const {
  HttpRequest request;
  request.url = Endpoint(service_.protocol, service_.base_url);
  request.total_timeout = options_.timeout;
  request.idle_timeout = options_.idle;
  request.stream_end = StreamEnd(service_.protocol);
  request.body = std::move(body);
  if (options_.deadline) {
    request.longest = *options_.deadline - clock_.Now();
    if (request.longest <= Seconds(0))
      return Fail(ErrorKind::kTimeUp, "the time was up before it could be asked");
  }
  request.headers.emplace_back("Accept", "text/event-stream, application/json");
  if (service_.protocol == Protocol::kAnthropic) {
    request.headers.emplace_back("anthropic-version", "2023-06-01");
    if (!service_.key.empty()) request.headers.emplace_back("x-api-key", service_.key);
  } else if (!service_.key.empty()) {
    request.headers.emplace_back("Authorization", "Bearer " + service_.key);
  }
  return request;
}

}  // namespace

std::unique_ptr<Model> MakeServiceModel(Service service, const ModelOptions& options,
                                        Clock& clock) {
  return std::make_unique<ServiceModel>(std::move(service), options, clock);
}

}  // namespace pragma
