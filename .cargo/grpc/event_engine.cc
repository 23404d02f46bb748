// The event engine of what is shipped. gRPC's own (posix_engine.cc of v1.56)
// starts a pool of threads as large as the machine has cores, one that polls
// and one for timers. Here, connections are polled by the completion queue's
// thread as ever, and all that is asked of an event engine is to run something
// later: the server gives a client's handshake two minutes, say. One thread does
// that, from the first time on that somebody asks; the shim's client never does.

#include <grpc/support/port_platform.h>

#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <utility>

#include <grpc/event_engine/event_engine.h>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "src/core/lib/event_engine/default_event_engine_factory.h"
#include "src/core/lib/gprpp/sync.h"
#include "src/core/lib/gprpp/thd.h"

namespace grpc_event_engine {
namespace experimental {
namespace {

using Task = absl::AnyInvocable<void()>;
using Clock = std::chrono::steady_clock;

// What the engine and its thread share: the thread may outlive the engine, as
// the last one to hold an engine may be a task of its own.
class Tasks : public std::enable_shared_from_this<Tasks> {
 public:
  void Add(Task task) {
    grpc_core::MutexLock lock(&mu_);
    now_.push_back(std::move(task));
    WakeBefore(Clock::time_point::min());
  }

  intptr_t AddLater(EventEngine::Duration wait, Task task) {
    grpc_core::MutexLock lock(&mu_);
    const auto due = Clock::now() + std::chrono::duration_cast<Clock::duration>(wait);
    const intptr_t id = ++last_id_;
    later_.emplace(Place(due, id), std::move(task));
    due_.emplace(id, due);
    WakeBefore(due);
    return id;
  }

  // The thread is left asleep: it finds nothing to do when the time has come.
  bool Cancel(intptr_t id) {
    // Destroyed outside the lock: what it holds may be the last of something.
    Task task;
    grpc_core::MutexLock lock(&mu_);
    const auto due = due_.find(id);
    if (due == due_.end()) return false;
    const auto place = later_.find(Place(due->second, id));
    task = std::move(place->second);
    later_.erase(place);
    due_.erase(due);
    return true;
  }

  void End() {
    grpc_core::MutexLock lock(&mu_);
    is_over_ = true;
    changed_.Signal();
  }

  static bool IsOwnThread() { return is_own_thread_; }

 private:
  using Place = std::pair<Clock::time_point, intptr_t>;

  // Each frame on the server's side moves a timer two hours away: whoever sleeps
  // until an earlier one is not woken for that.
  void WakeBefore(Clock::time_point due) {
    if (std::exchange(has_thread_, true)) {
      if (due < sleeps_until_) changed_.Signal();
      return;
    }
    // It keeps the tasks alive until it has gone.
    auto* self = new std::shared_ptr<Tasks>(shared_from_this());
    grpc_core::Thread(
        "event_engine",
        [](void* arg) {
          std::unique_ptr<std::shared_ptr<Tasks>> self(static_cast<std::shared_ptr<Tasks>*>(arg));
          is_own_thread_ = true;
          (*self)->Work();
        },
        self, nullptr, grpc_core::Thread::Options().set_joinable(false).set_tracked(false))
        .Start();
  }

  void Work() {
    while (true) {
      Task task = Next();
      if (task == nullptr) return;
      task();
    }
  }

  // Waits for it; none once the engine has gone and what was to be run at once
  // has been.
  Task Next() {
    grpc_core::MutexLock lock(&mu_);
    while (true) {
      if (!now_.empty()) {
        Task task = std::move(now_.front());
        now_.pop_front();
        return task;
      }
      if (is_over_) return nullptr;
      const auto first = later_.begin();
      const auto due = first == later_.end() ? Clock::time_point::max() : first->first.first;
      const auto left = due - Clock::now();
      if (left > Clock::duration::zero()) {
        sleeps_until_ = due;
        changed_.WaitWithTimeout(&mu_, due == Clock::time_point::max() ? absl::InfiniteDuration() : absl::FromChrono(left));
        // Awake, it looks at everything before it sleeps again.
        sleeps_until_ = Clock::time_point::min();
        continue;
      }
      Task task = std::move(first->second);
      due_.erase(first->first.second);
      later_.erase(first);
      return task;
    }
  }

  static thread_local bool is_own_thread_;

  grpc_core::Mutex mu_;
  grpc_core::CondVar changed_;
  std::deque<Task> now_;
  std::map<Place, Task> later_;
  std::map<intptr_t, Clock::time_point> due_;
  Clock::time_point sleeps_until_ = Clock::time_point::min();
  intptr_t last_id_ = 0;
  bool has_thread_ = false;
  bool is_over_ = false;
};

thread_local bool Tasks::is_own_thread_ = false;

class OneThreadEngine final : public EventEngine {
 public:
  ~OneThreadEngine() override { tasks_->End(); }

  void Run(Closure* closure) override {
    tasks_->Add([closure] { closure->Run(); });
  }
  void Run(Task task) override { tasks_->Add(std::move(task)); }
  TaskHandle RunAfter(Duration wait, Closure* closure) override {
    return RunAfter(wait, [closure] { closure->Run(); });
  }
  TaskHandle RunAfter(Duration wait, Task task) override {
    return TaskHandle{{tasks_->AddLater(wait, std::move(task)), 0}};
  }
  bool Cancel(TaskHandle handle) override { return tasks_->Cancel(handle.keys[0]); }
  bool IsWorkerThread() override { return Tasks::IsOwnThread(); }

  // Nobody asks for these: sockets are connected, accepted and polled by
  // gRPC's older half, and names are no business of either.
  absl::StatusOr<std::unique_ptr<Listener>> CreateListener(Listener::AcceptCallback, absl::AnyInvocable<void(absl::Status)>,
                                                           const EndpointConfig&,
                                                           std::unique_ptr<MemoryAllocatorFactory>) override {
    return absl::UnimplementedError("no listeners here");
  }
  ConnectionHandle Connect(OnConnectCallback on_connect, const ResolvedAddress&, const EndpointConfig&, MemoryAllocator,
                           Duration) override {
    Run([on_connect = std::move(on_connect)]() mutable { on_connect(absl::UnimplementedError("no connections here")); });
    return ConnectionHandle::kInvalid;
  }
  bool CancelConnect(ConnectionHandle) override { return false; }
  std::unique_ptr<DNSResolver> GetDNSResolver(const DNSResolver::ResolverOptions&) override { return nullptr; }

 private:
  const std::shared_ptr<Tasks> tasks_ = std::make_shared<Tasks>();
};

}  // namespace

std::unique_ptr<EventEngine> DefaultEventEngineFactory() { return std::make_unique<OneThreadEngine>(); }

}  // namespace experimental
}  // namespace grpc_event_engine
