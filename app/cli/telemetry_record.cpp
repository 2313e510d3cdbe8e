// SPDX-License-Identifier: GPL-3.0-or-later
// `telemetry record`: what live sources tell, until they are over, enough was told, Ctrl-C or SIGTERM; then a
// recording.
#include "app/cli/command.h"
#include "app/cli/live_options.h"
#include "app/cli/outputs.h"
#include "app/cli/progress.h"
#include "app/cli/run_sources.h"
#include "app/cli/signals.h"

#include "core/base/number_text.h"
#include "core/base/printable.h"
#include "core/base/words.h"
#include "core/live/session.h"
#include "core/runs/telemetry/recording_file.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <iostream>
#include <map>
#include <mutex>
#include <system_error>

#include <unistd.h>

namespace trainyard::cli {

namespace {

struct TelemetryRecordOptions {
    LiveOptions live;
    std::vector<std::string> addresses;
    std::string out;
    double seconds = 0; // 0: no end
    int steps = 0;
};

bool isOver(const live::SourceStatus &status)
{
    return status.state == live::SourceState::Ended || status.state == live::SourceState::Refused;
}

/// As it may stand in a line for people, however it is called.
std::string shownName(const std::string &name)
{
    return printable(shortened(name, 200));
}

/// "tail:a.log: Trying again: …" of what people want to know once.
std::string lineOf(const live::SourceStatus &status)
{
    return shownName(status.address.text()) + ": " + live::nameOf(status.state)
        + (status.reason.empty() ? "" : ": " + printable(shortened(status.reason, 400)));
}

class Recorder {
public:
    explicit Recorder(const TelemetryRecordOptions &options)
        : m_options(options)
        , m_progress("")
    {
    }

    Errors begin(const std::vector<live::Address> &addresses, const live::SourceSettings &settings)
    {
        Errors faults;
        for (const live::Address &address : addresses)
            if (auto number = m_session.add(address, settings); !number)
                faults.push_back(number.error());
        return faults;
    }

    /// Until it is enough. True: Ctrl-C ended it.
    bool listen(const std::stop_token &stop)
    {
        std::mutex mutex;
        std::condition_variable_any woken;
        std::unique_lock lock(mutex);
        while (!stop.stop_requested() && !isEnough()) {
            look();
            woken.wait_for(lock, stop, std::chrono::milliseconds(50), [] { return false; });
        }
        m_progress.clear();
        return stop.stop_requested();
    }

    /// Stops all sources; what they brought is read to its end.
    Recording finish()
    {
        look();
        m_last = m_session.statuses();
        for (const auto &[number, status] : m_last)
            m_session.remove(number);
        m_session.drain();
        return m_session.whole();
    }

    /// Why nothing can be recorded, where that is so.
    [[nodiscard]] Errors refusals() const
    {
        Errors faults;
        for (const auto &[number, status] : m_last)
            if (status.state == live::SourceState::Refused)
                faults.push_back({ ErrorCode::CannotRead, status.address.text(), status.reason, "" });
        return faults;
    }

    [[nodiscard]] std::string summary(const Recording &recording, bool isWritten = true) const
    {
        std::string text;
        for (const auto &[number, status] : m_last) {
            text += shownName(status.address.text()) + ": " + bytesText(static_cast<double>(status.bytes)) + " in "
                + wholeText(static_cast<double>(status.batches)) + (status.batches == 1 ? " batch" : " batches")
                + (status.dropped > 0 ? ", " + bytesText(static_cast<double>(status.dropped)) + " dropped"
                                      : std::string())
                + "\n";
            if (status.state == live::SourceState::Connecting && !status.reason.empty()) // to the end
                text += "  " + printable(status.reason) + "\n";
            for (const std::string &note : status.notes)
                text += "  " + printable(note) + "\n";
        }
        const live::StoreCounts counts = m_session.store().counts();
        for (const std::vector<Dropped> *all : { &counts.dropped, &counts.unread })
            for (const Dropped &dropped : *all)
                text += "dropped: " + printable(dropped.reason) + ": " + wholeText(static_cast<double>(dropped.count))
                    + "\n";
        if (!isWritten)
            return text;
        return text + counted(m_session.stepsTold(), "step") + ", " + counted(std::ssize(recording.ranks), "rank")
            + ", " + wholeText(static_cast<double>(counts.events)) + " events: " + shownName(m_options.out) + "\n";
    }

private:
    using Clock = std::chrono::steady_clock;

    [[nodiscard]] bool isEnough() const
    {
        const auto statuses = m_session.statuses();
        return (m_options.seconds > 0
                   && std::chrono::duration<double>(Clock::now() - m_begun).count() >= m_options.seconds)
            || (m_options.steps > 0 && m_session.stepsTold() >= m_options.steps)
            || std::ranges::all_of(statuses, [](const auto &one) { return isOver(one.second); });
    }

    void look()
    {
        const auto statuses = m_session.statuses();
        for (const auto &[number, status] : statuses) {
            if (status.address.type == live::SourceType::Listener && status.address.port != 0
                && m_told[number].address.port != status.address.port) {
                std::cout << "listening at " << status.address.text().substr(7) << std::endl; // behind "listen:"
                m_told[number].address.port = status.address.port;
            }
            live::SourceStatus &told = m_told[number];
            const bool isBad = status.state == live::SourceState::BackingOff
                || status.state == live::SourceState::Refused || status.state == live::SourceState::Stale;
            if (status.state != told.state && isBad) {
                m_progress.clear();
                std::cerr << lineOf(status) << '\n';
            }
            told.state = status.state;
        }
        if (m_progress.isDue())
            m_progress.show(progressOf(statuses));
    }

    [[nodiscard]] std::string progressOf(const std::vector<std::pair<std::uint32_t, live::SourceStatus>> &statuses)
    {
        std::map<std::string, std::int64_t> states;
        double dropped = 0;
        for (const auto &[number, status] : statuses) {
            ++states[live::nameOf(status.state)];
            dropped += static_cast<double>(status.dropped);
        }
        const std::int64_t events = m_session.store().counts().events;
        const auto now = Clock::now();
        if (const double passed = std::chrono::duration<double>(now - m_counted).count(); passed >= 1) {
            m_rate = static_cast<double>(events - m_events) / passed;
            m_events = events;
            m_counted = now;
        }
        std::string line = counted(std::ssize(statuses), "source") + ":";
        for (const auto &[state, count] : states)
            line += " " + std::to_string(count) + " " + state + ",";
        line.back() = ';';
        return line + " " + wholeText(static_cast<double>(m_session.stepsTold())) + " steps, "
            + wholeText(std::round(m_rate)) + " events/s, " + bytesText(dropped) + " dropped";
    }

    const TelemetryRecordOptions &m_options;
    mutable live::Session m_session;
    Progress m_progress;
    Clock::time_point m_begun = Clock::now(), m_counted = Clock::now();
    std::int64_t m_events = 0;
    double m_rate = 0;
    std::map<std::uint32_t, live::SourceStatus> m_told;
    std::vector<std::pair<std::uint32_t, live::SourceStatus>> m_last;
};

ExpectedAll<std::vector<live::Address>> addressesOf(const TelemetryRecordOptions &options)
{
    Errors faults;
    std::vector<live::Address> addresses = addressesIn(options.addresses, faults);
    const std::vector<std::string> inputs = filesOf(addresses);
    if (!(options.seconds >= 0 && options.seconds <= 1e9))
        faults.push_back({ ErrorCode::BadValue, "--seconds", "is no time", "0 (no end) to 1000000000" });
    for (const Error &clash : outputClashes({ { "--out", options.out } }, inputs))
        faults.push_back(clash);
    // Hours of a run must not end at a folder that was never there.
    const std::string folder = std::filesystem::path(options.out).parent_path().string();
    if (::access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) != 0)
        faults.push_back({ ErrorCode::CannotWrite, options.out,
            "cannot be written there: " + std::generic_category().message(errno), "a folder that can be written to" });
    if (!faults.empty())
        return std::unexpected(faults);
    return addresses;
}

int record(const TelemetryRecordOptions &options)
{
    const auto addresses = addressesOf(options);
    if (!addresses)
        return fail(addresses.error());
    const auto settings = settingsOf(options.live);
    if (!settings)
        return fail({ settings.error() });
    Interruption interruption;
    Recorder recorder(options);
    if (const Errors faults = recorder.begin(*addresses, *settings); !faults.empty())
        return fail(faults);
    const bool isInterrupted = recorder.listen(interruption.token());
    const Recording recording = recorder.finish();
    if (const Errors refusals = recorder.refusals(); !refusals.empty() && !hasAnything(recording))
        return fail(refusals);
    if (!hasAnything(recording)) { // what --out held stays
        std::cerr << recorder.summary(recording, false);
        return fail({ { ErrorCode::CannotRead, options.addresses.size() == 1 ? options.addresses.front() : "",
            "nothing was told, so nothing is recorded", "a source that tells steps, spans or samples meanwhile" } });
    }
    const auto written = writeWhatFits(recording, options.out);
    if (!written)
        return fail({ written.error() });
    std::cerr << recorder.summary(recording);
    if (!written->empty())
        return fail({ { ErrorCode::CannotWrite, options.out, *written, "room for the whole recording" } });
    const bool hasEnd = options.seconds > 0 || options.steps > 0; // else Ctrl-C is how it ends
    return isInterrupted && hasEnd ? int(kInterrupted) : int(kDone);
}

} // namespace

void addTelemetryRecord(const Subcommand &telemetry, int &exitCode)
{
    const auto options = std::make_shared<TelemetryRecordOptions>();
    const Subcommand command(telemetry, "record",
        "What live sources tell, kept as a recording: until Ctrl-C, until "
        "they are over, or for some seconds or steps");
    addSourceOptions(command, options->addresses, options->live);
    command.text("--out", options->out, "Recording to write, *.trainyard-recording").shownAs("RECORDING").required();
    command.real("--seconds", options->seconds, "End after so long").shownAs("S");
    command.number("--steps", options->steps, "End once so many steps were told of; what came along with them stays")
        .shownAs("N")
        .between(0, 1'000'000'000);
    command.callback([options, &exitCode] { exitCode = record(*options); });
}

} // namespace trainyard::cli
