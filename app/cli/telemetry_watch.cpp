// SPDX-License-Identifier: GPL-3.0-or-later
// `telemetry watch`: alarms of a run that goes on, a line each as they are raised and cleared, with who is notified.
#include "app/cli/command.h"
#include "app/cli/live_options.h"
#include "app/cli/outputs.h"
#include "app/cli/run_sources.h"
#include "app/cli/signals.h"

#include "core/base/printable.h"
#include "core/base/words.h"
#include "core/live/desk/alarm_desk.h"
#include "core/live/desk/live_snapshots.h"
#include "core/runs/telemetry/recording_file.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <ctime>
#include <iostream>
#include <map>
#include <mutex>

namespace trainyard::cli {

namespace {

constexpr auto kPace = std::chrono::milliseconds(250);
constexpr double kUntilTold = 10; // s that notices under way have at the end

struct TelemetryWatchOptions {
    LiveOptions live;
    std::vector<std::string> addresses, rules;
    std::string plan, alarms, log, out, format;
    bool isWebhookAnywhere = false;
    double seconds = 0; // 0: no end
};

int utcOffsetNow()
{
    const std::time_t now = std::time(nullptr);
    std::tm local {};
    return ::localtime_r(&now, &local) ? static_cast<int>(local.tm_gmtoff) : 0;
}

/// "2026-11-30T02:41:07.250Z  raised 3  clock  n0/gpu5 runs at 60 % …", or the log's own line.
std::string shownLine(const desk::AlarmEntry &entry, const desk::AlarmStates &states, const std::string &format)
{
    if (format == "json")
        return lineOf(entry);
    const desk::AlarmState *alarm = states.of(entry.number);
    std::string line = desk::isoText(entry.at) + "  " + nameOf(entry.act);
    if (entry.number > 0)
        line += " " + std::to_string(entry.number);
    line += "  " + (alarm ? alarm->rule : entry.rule);
    if (alarm)
        line += "  " + printable(alarm->sentence);
    if (!entry.by.empty())
        line += ", by " + printable(entry.by);
    return line + (entry.note.empty() ? "" : ": " + printable(entry.note));
}

class AlarmWatch {
public:
    AlarmWatch(const TelemetryWatchOptions &options, EvaluationPtr plan, desk::AlarmSetup setup)
        : m_options(options)
        , m_plan(std::move(plan))
        , m_watchman({ .rules = setup.rules, .utcOffsetSeconds = utcOffsetNow() })
        , m_setup(std::move(setup))
        , m_feed(makeSessionFeed([this] { m_hasNews = true; }))
    {
    }

    Errors begin(const std::vector<live::Address> &addresses, const live::SourceSettings &settings)
    {
        std::vector<std::string> names;
        for (const live::Address &address : addresses)
            names.push_back(address.text());
        auto opened = desk::AlarmDesk::open({ .setup = m_setup,
            .logPath = m_options.log,
            .allowsWebhooksAnywhere = m_options.isWebhookAnywhere,
            .run = trainyard::joined(names, ", ") });
        if (!opened)
            return opened.error();
        m_desk = std::move(*opened);
        Errors faults;
        for (const live::Address &address : addresses)
            if (const auto number = m_feed->add(address, settings); !number)
                faults.push_back(number.error());
        return faults;
    }

    /// Until it is enough, or Ctrl-C.
    void watch(const std::stop_token &stop)
    {
        std::mutex mutex;
        std::condition_variable_any woken;
        std::unique_lock lock(mutex);
        bool isEnd = false;
        while (!isEnd) {
            isEnd = stop.stop_requested() || isEnough();
            tellStatuses();
            if (isEnd) { // what they told last counts, too
                for (const auto &[number, status] : m_feed->statuses())
                    m_feed->remove(number);
                m_feed->drain();
                m_hasNews = true;
            }
            look();
            if (!isEnd)
                woken.wait_for(lock, stop, kPace, [] { return false; });
        }
        if (!m_desk->waitUntilTold(kUntilTold))
            std::cerr << counted(m_desk->notified().waiting, "notice") << " could not be delivered in time\n";
        look();
    }

    [[nodiscard]] Errors refusals() const
    {
        Errors faults;
        for (const auto &[number, status] : m_told)
            if (status.state == live::SourceState::Refused)
                faults.push_back({ ErrorCode::CannotRead, status.address.text(), status.reason, "" });
        return faults;
    }
    [[nodiscard]] Recording whole() const { return m_feed->whole(); }
    [[nodiscard]] const std::string &logFault() const { return m_desk->logFault(); }
    [[nodiscard]] bool hasLooked() const { return m_overlay != nullptr; }

private:
    using Clock = std::chrono::steady_clock;

    [[nodiscard]] bool isEnough() const
    {
        const auto statuses = m_feed->statuses();
        const double passed = std::chrono::duration<double>(Clock::now() - m_begun).count();
        return (m_options.seconds > 0 && passed >= m_options.seconds)
            || std::ranges::all_of(statuses, [](const auto &one) {
                   return one.second.state == live::SourceState::Ended
                       || one.second.state == live::SourceState::Refused;
               });
    }

    void look()
    {
        const bool hasNews = m_hasNews.exchange(false);
        if (hasNews) {
            const LiveState state = liveState(
                *m_feed, { .stepsKnown = m_stepsTold, .spansPerStep = m_spansPerStep, .lastKnown = m_revision });
            if (state.hasNews) {
                m_revision = state.revision;
                m_stepsTold = state.stepsTold;
                m_spansPerStep = state.spansPerStep;
                m_heard = state.heard;
                if (state.run)
                    m_overlay = overlayRun(m_plan, state.run, OverlayOptions {});
            }
        }
        const bool isConnected = std::ranges::any_of(m_told, [](const auto &one) {
            return one.second.state == live::SourceState::Live || one.second.state == live::SourceState::Stale;
        });
        if (m_overlay && (hasNews || isConnected)) // silence is told by the clock
            m_watchman.look(*m_overlay, m_heard, live::unixNow());
        m_desk->look(m_watchman.alarms(), live::unixNow());
        for (const desk::AlarmEntry &entry : m_desk->takeNew())
            std::cout << shownLine(entry, m_desk->states(), m_options.format) << std::endl;
    }

    void tellStatuses()
    {
        for (const auto &[number, status] : m_feed->statuses()) {
            live::SourceStatus &told = m_told[number];
            const bool hasPort = status.address.type == live::SourceType::Listener && status.address.port != 0;
            if (hasPort && told.address.port != status.address.port)
                std::cerr << "listening at " << status.address.text().substr(7) << std::endl; // behind "listen:"
            const bool isBad = status.state == live::SourceState::BackingOff
                || status.state == live::SourceState::Refused || status.state == live::SourceState::Stale;
            if (status.state != told.state && isBad)
                std::cerr << printable(shortened(status.address.text(), 200)) << ": " << live::nameOf(status.state)
                          << ": " << printable(shortened(status.reason, 400)) << '\n';
            told = status;
        }
    }

    const TelemetryWatchOptions &m_options;
    EvaluationPtr m_plan;
    watch::Watchman m_watchman;
    desk::AlarmSetup m_setup;
    std::atomic<bool> m_hasNews = false;
    std::unique_ptr<LiveFeed> m_feed;
    std::unique_ptr<desk::AlarmDesk> m_desk;
    RunOverlayPtr m_overlay;
    std::vector<watch::Heard> m_heard;
    Moment m_revision = 0;
    std::int64_t m_stepsTold = 0, m_spansPerStep = 0;
    std::map<std::uint32_t, live::SourceStatus> m_told;
    Clock::time_point m_begun = Clock::now();
};

/// Of the file, and of the options that stand above it.
ExpectedAll<desk::AlarmSetup> setupOf(const TelemetryWatchOptions &options)
{
    desk::AlarmSetup setup;
    Errors faults;
    if (!options.alarms.empty()) {
        auto read = desk::readAlarmSetup(options.alarms);
        if (!read)
            return std::unexpected(read.error());
        setup = std::move(*read);
    }
    for (const std::string &rule : options.rules)
        if (const auto set = setup.rules.set(rule); !set) {
            faults.push_back(set.error());
            faults.back().where = "--rule " + faults.back().where;
        }
    if (!faults.empty())
        return std::unexpected(std::move(faults));
    return setup;
}

int runWatch(TelemetryWatchOptions options)
{
    Errors faults;
    const std::vector<live::Address> addresses = addressesIn(options.addresses, faults);
    if (!(options.seconds >= 0 && options.seconds <= 1e9))
        faults.push_back({ ErrorCode::BadValue, "--seconds", "is no time", "0 (no end) to 1000000000" });
    if (options.log.empty() && !options.out.empty())
        options.log = desk::alarmLogBeside(options.out);
    for (const Error &clash : outputClashes({ { "--out", options.out }, { "--log", options.log } }, filesOf(addresses)))
        faults.push_back(clash);
    auto setup = setupOf(options);
    if (!setup)
        faults.insert(faults.end(), setup.error().begin(), setup.error().end());
    const auto settings = settingsOf(options.live);
    if (!settings)
        faults.push_back(settings.error());
    EvaluationPtr plan;
    if (!options.plan.empty()) {
        const auto evaluation = evaluateFile(options.plan, {}, Depth::Spans);
        if (evaluation)
            plan = *evaluation;
        else
            faults.insert(faults.end(), evaluation.error().begin(), evaluation.error().end());
    }
    if (!faults.empty())
        return fail(faults);
    Interruption interruption;
    AlarmWatch watch(options, plan, *std::move(setup));
    if (const Errors wrong = watch.begin(addresses, *settings); !wrong.empty())
        return fail(wrong);
    watch.watch(interruption.token());
    if (!watch.logFault().empty())
        std::cerr << watch.logFault() << '\n';
    if (const Errors refusals = watch.refusals(); !refusals.empty() && !watch.hasLooked())
        return fail(refusals);
    if (!options.out.empty() && watch.hasLooked()) {
        const auto written = writeWhatFits(watch.whole(), options.out);
        if (!written)
            return fail({ written.error() });
    }
    return watch.logFault().empty() ? int(kDone) : int(kBadInput);
}

} // namespace

void addTelemetryWatch(const Subcommand &telemetry, int &exitCode)
{
    const auto options = std::make_shared<TelemetryWatchOptions>();
    const Subcommand command(telemetry, "watch",
        "Alarms of what live sources tell, a line each, until Ctrl-C, until they are over, or for some seconds");
    addSourceOptions(command, options->addresses, options->live);
    command.text("--plan", options->plan, "Plan that the run is held against").shownAs("PLAN");
    command.text("--alarms", options->alarms, "File with rules and who is notified, *.trainyard-alarms.json")
        .shownAs("FILE");
    command
        .texts("--rule", options->rules,
            "A rule, above the file's: clock.threshold=0.8, silent.hold_s=60, waiting.on=false, xid.ignore=13,31")
        .shownAs("R")
        .oneEach();
    command.text("--log", options->log, "Log of alarms, lines of JSON that are added at its end").shownAs("LOG");
    command.text("--out", options->out, "Recording to write at the end, with the log beside it").shownAs("RECORDING");
    command.flag("--webhooks-anywhere", options->isWebhookAnywhere, "Also notify webhooks beyond this machine");
    command.real("--seconds", options->seconds, "End after so long").shownAs("S");
    addFormatOption(command, options->format, { "table", "json" });
    command.callback([options, &exitCode] { exitCode = runWatch(*options); });
}

} // namespace trainyard::cli
