#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Tells commands and webhooks of alarms, each in order and at its own pace, on a thread of its own: whoever raises an
// alarm never waits. What is not taken is tried again, later each time, so often and no oftener; then it is given up
// and reported. The message is on the command's standard input, or the body of a POST. Redirects are not followed.

#include "core/live/desk/alarm_setup.h"
#include "core/live/desk/notice.h"

#include <functional>
#include <memory>

namespace trainyard::desk {

struct NotifierOptions {
    int mostTries = 5;
    /// s before the second try; twice as long before each further one
    double firstWait = 1;
    /// notices that one target may have waiting; further ones are given up
    std::size_t mostWaiting = 256;
    /// Notifier's thread: an alarm's number, and "page: it ended with exit code 3, after 5 tries".
    std::function<void(std::int64_t number, const std::string &why)> undelivered = {};
};

struct NotifierCounts {
    std::int64_t delivered = 0, undelivered = 0, waiting = 0, tries = 0;
    bool operator==(const NotifierCounts &) const = default;
};

class Notifier {
public:
    /// Reads the files of tokens. Errors: theirs.
    [[nodiscard]] static Expected<std::unique_ptr<Notifier>> make(
        std::vector<NotifyTarget> targets, NotifierOptions options = {});
    /// Ends what is under way: TERM to a command and its children, KILL after 2 s.
    ~Notifier();
    Notifier(const Notifier &) = delete;
    Notifier &operator=(const Notifier &) = delete;

    /// any thread; never waits
    void send(const Notice &notice);
    [[nodiscard]] NotifierCounts counts() const;
    /// Waits until nothing is under way, so long at most. False: something still is. Not from the notifier's thread.
    bool waitUntilIdle(double seconds) const;

private:
    struct Private;
    explicit Notifier(std::unique_ptr<Private> inside);
    std::unique_ptr<Private> d;
};

} // namespace trainyard::desk
