// SPDX-License-Identifier: GPL-3.0-or-later
// `telemetry replay` and `telemetry serve`: a recording as a live source of somebody else.
#include "app/cli/command.h"
#include "app/cli/live_options.h"
#include "app/cli/progress.h"
#include "app/cli/run_sources.h"
#include "app/cli/signals.h"

#include "core/base/number_text.h"
#include "core/base/printable.h"
#include "core/base/words.h"
#include "core/live/serve.h"

#include <iostream>

namespace trainyard::cli {

namespace {

struct TelemetryReplayOptions {
    LiveOptions live;
    std::string recording, to, at;
    bool isOnce = false;
};

/// The recording, or the exit code of why there is none.
std::expected<Recording, int> read(const TelemetryReplayOptions &options, const std::stop_token &stop)
{
    auto recording = readRun({ options.recording }, stop);
    if (!recording)
        return std::unexpected(recording.error().code == ErrorCode::Cancelled ? stoppedBefore("the recording was read")
                                                                              : fail({ recording.error() }));
    Errors faults = tellOf(*recording, { options.recording });
    if (faults.empty() && recording->ranks.empty() && recording->series.empty())
        faults.push_back({ ErrorCode::BadValue, options.recording, "there is nothing in it that happened",
            "a recording with steps, spans or samples" });
    if (!faults.empty())
        return std::unexpected(fail(faults));
    return std::move(*recording);
}

live::ServeOptions servedWith(const TelemetryReplayOptions &options, const std::stop_token &stop, Progress &progress)
{
    live::ServeOptions serve;
    serve.speed = options.live.speed;
    serve.isRepeated = options.live.isRepeated;
    serve.stop = stop;
    serve.status = [&progress, told = live::SourceState::Idle](const live::SourceStatus &status) mutable {
        if (status.state == live::SourceState::BackingOff && told != status.state) {
            progress.clear();
            std::cerr << printable(shortened(status.address.text() + ": " + status.reason, 600)) << '\n';
        }
        told = status.state == live::SourceState::Connecting ? told : status.state;
        if (progress.isDue())
            progress.show(printable(status.address.text()) + ": " + live::nameOf(status.state) + ", "
                + (status.address.type == live::SourceType::Listener ? counted(status.clients, "client") + ", " : "")
                + wholeText(static_cast<double>(status.batches)) + " lines, "
                + bytesText(static_cast<double>(status.bytes)));
    };
    return serve;
}

int replay(const TelemetryReplayOptions &options)
{
    const auto to = live::parseAddress(options.to);
    if (!to)
        return fail({ to.error() });
    const auto settings = settingsOf(options.live);
    if (!settings)
        return fail({ settings.error() });
    Interruption interruption;
    const auto recording = read(options, interruption.token());
    if (!recording)
        return recording.error();
    Progress progress("");
    const auto told = live::replayTo(*recording, *to, *settings, servedWith(options, interruption.token(), progress));
    progress.clear();
    if (!told)
        return fail({ told.error() });
    return interruption.token().stop_requested() ? stoppedBefore("all of it was told") : int(kDone);
}

int serve(const TelemetryReplayOptions &options)
{
    const auto at = live::parseAddress("listen:" + options.at);
    if (!at) {
        Error fault = at.error();
        fault.where = "--at " + options.at;
        for (std::string *part : { &fault.what, &fault.right }) // it is no address of a source here
            for (std::size_t place; (place = part->find("listen:")) != part->npos;)
                part->erase(place, 7);
        return fail({ fault });
    }
    const auto settings = settingsOf(options.live);
    if (!settings)
        return fail({ settings.error() });
    Interruption interruption;
    const auto recording = read(options, interruption.token());
    if (!recording)
        return recording.error();
    Progress progress("");
    const auto served = live::serveRecording(*recording, *at, *settings,
        servedWith(options, interruption.token(), progress), options.isOnce, [](const live::Address &began) {
            std::cout << "serving at " << began.text().substr(7) << std::endl; // behind "listen:"
        });
    progress.clear();
    if (!served)
        return fail({ served.error() });
    return options.isOnce && interruption.token().stop_requested() ? stoppedBefore("anybody heard all of it")
                                                                   : int(kDone);
}

} // namespace

void addTelemetryReplay(const Subcommand &telemetry, int &exitCode)
{
    const auto told = std::make_shared<TelemetryReplayOptions>();
    const Subcommand replaying(telemetry, "replay", "Tell a recording to somebody who listens, as if it happened now");
    replaying.text("RECORDING", told->recording, "A recording, or any file of a run").required();
    replaying.text("--to", told->to, "tcp://HOST:PORT, tls://HOST:PORT, ws://HOST:PORT/PATH or wss://…")
        .shownAs("ADDRESS")
        .required();
    addSpeedOptions(replaying, told->live);
    addTokenOption(replaying, told->live, "File with the token that the listener asks for");
    addTrustOptions(replaying, told->live);
    replaying.callback([told, &exitCode] { exitCode = replay(*told); });

    const auto served = std::make_shared<TelemetryReplayOptions>();
    const Subcommand serving(telemetry, "serve", "Tell a recording to everybody who connects, each from its beginning");
    serving.text("RECORDING", served->recording, "A recording, or any file of a run").required();
    serving.text("--at", served->at, "HOST:PORT, or PORT of this machine alone; 0: any that is free")
        .shownAs("HOST:PORT")
        .required();
    addSpeedOptions(serving, served->live);
    serving.flag("--once", served->isOnce, "End when somebody has heard all of it");
    addTokenOption(serving, served->live, "File with the token that clients have to show");
    addCertificateOptions(serving, served->live);
    serving.callback([served, &exitCode] { exitCode = serve(*served); });
}

} // namespace trainyard::cli
