// RecordingModel: a Model whose replies are committed to the store before they are used. It never
// repeats a request whose reply is already stored.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "base/result.h"
#include "llm/model.h"
#include "store/store.h"

namespace pragma {

// Several threads may call it at the same time if the inner model allows it.
class RecordingModel final : public Model {
 public:
  // Both must outlive this object.
  RecordingModel(Model& inner, Store& store) : inner_(inner), store_(store) {}

  [[nodiscard]] Result<Completion> Complete(const std::vector<Message>& messages,
                                            const Sampling& sampling, const CallKey& key) override;
  [[nodiscard]] std::string name() const override { return inner_.name(); }

  [[nodiscard]] int asked() const { return asked_; }    // requests to the inner model
  [[nodiscard]] int reused() const { return reused_; }  // replies taken from the store

 private:
  Model& inner_;
  Store& store_;
  std::atomic<int> asked_ = 0;
  std::atomic<int> reused_ = 0;
};

}  // namespace pragma
