// task: tasks/activation/11_gelu_erf.py
// expect: rejected_source
// A thread that outlives its call.
#include <thread>

extern "C" void pragma_launch(const float*, float*, void*, cudaStream_t) {
  std::thread([] {
    for (;;) {
    }
  }).detach();
}
