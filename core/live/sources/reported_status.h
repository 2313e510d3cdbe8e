#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How a source is, as it tells it to its sink: at once where its state changes, at most ten times a second where only
// figures grow. Silence is told as stale by whoever shows it (feed.h). Loop's thread alone.

#include "core/live/net/loop.h"
#include "core/live/source.h"

#include <string>

namespace trainyard::live {

class ReportedStatus {
public:
    ReportedStatus(net::Loop &loop, SourceSink &sink, const Address &address);

    [[nodiscard]] const SourceStatus &now() const { return m_status; }
    [[nodiscard]] SourceState state() const { return m_status.state; }
    void set(SourceState state, std::string reason = {}, double secondsToTry = 0);
    void setAddress(const Address &address) { m_status.address = address; }
    /// What set() says meanwhile is shown afterwards.
    void setPaused(bool isPaused, std::string reason = "paused: what comes is counted as dropped");
    [[nodiscard]] bool isPaused() const { return m_isPaused; }
    void setClients(int clients);
    void countTry();
    void forgetTries(); // a connection came about
    [[nodiscard]] std::int64_t tries() const { return m_status.tries; }
    void hear(std::size_t bytes, int batches = 0); // makes it live
    void drop(std::size_t bytes); // by the source itself: what a full queue drops, the sink counts
    void refuseClient(const std::string &note);
    void note(const std::string &text); // once each, the latest 20
    void stop(); // nothing is told any more, until set()

private:
    void changed(); // soon
    void tell(); // now

    SourceSink &m_sink;
    net::Timer m_soon;
    SourceStatus m_status;
    bool m_isPaused = false;
    SourceState m_behind = SourceState::Idle; // a pause: the state that it would have
    std::string m_reasonBehind;
};

} // namespace trainyard::live
