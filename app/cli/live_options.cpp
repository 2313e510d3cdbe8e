// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/live_options.h"

#include "core/base/text_file.h"

namespace trainyard::cli {

namespace {

constexpr std::size_t kMostSecret = 64 << 10; // bytes

/// The only line of a file.
Expected<std::string> secretIn(const std::string &path, const char *what)
{
    const std::string right = std::string("a file with the ") + what + ", one line";
    auto text = readTextFile(path, right, { kMostSecret, FileKinds::StreamsToo });
    if (!text)
        return text;
    while (text->ends_with('\n') || text->ends_with('\r'))
        text->pop_back();
    if (text->empty())
        return std::unexpected(Error { ErrorCode::BadValue, path, "nothing stands in it", right });
    return text;
}

} // namespace

void addTokenOption(const Subcommand &command, LiveOptions &options, const std::string &help)
{
    command.text("--token-file", options.tokenFile, help).shownAs("FILE");
}

void addTrustOptions(const Subcommand &command, LiveOptions &options)
{
    command.text("--ca", options.caFile, "Certificates (PEM) that vouch for servers, in place of the system's")
        .shownAs("FILE");
    command.flag("--insecure", options.isInsecure, "Take any certificate of a server");
}

void addCertificateOptions(const Subcommand &command, LiveOptions &options)
{
    command.text("--cert", options.certificateFile, "Certificate (PEM) to show: speaks TLS").shownAs("FILE");
    command.text("--key", options.keyFile, "Its key (PEM)").shownAs("FILE");
}

void addSpeedOptions(const Subcommand &command, LiveOptions &options)
{
    command.real("--speed", options.speed, "Times as fast as it was; 0: as fast as it goes")
        .shownAs("X")
        .showingDefault();
    command.flag("--repeat", options.isRepeated, "Begin again at its end");
}

void addSourceOptions(const Subcommand &command, std::vector<std::string> &addresses, LiveOptions &live)
{
    command
        .texts("ADDRESS", addresses,
            "http://HOST:9090 (Prometheus), listen:PORT (OTLP, WebSocket, lines of JSON), tcp://HOST:PORT or "
            "ws://HOST:PORT (a stream), tail:PATH (a log), command:COMMAND, replay:RECORDING")
        .required();
    addTokenOption(command, live, "File with the token: to be shown to servers, or by those who connect to us");
    command.text("--user", live.user, "User of the servers asked").shownAs("U");
    command.text("--password-file", live.passwordFile, "File with the password").shownAs("FILE");
    addTrustOptions(command, live);
    addCertificateOptions(command, live);
    command.texts("--query", live.queries, "PromQL to ask Prometheus, in place of GPUs', NICs' and hosts' metrics")
        .shownAs("Q")
        .oneEach();
    command.texts("--header", live.headers, "For Prometheus: \"X-Scope-OrgID: tenant\"").shownAs("H").oneEach();
    command.real("--interval", live.interval, "Seconds between asks of Prometheus").shownAs("S").showingDefault();
    command.flag("--from-end", live.isFromEnd, "Leave out what stands in a log already");
    addSpeedOptions(command, live);
}

std::vector<live::Address> addressesIn(const std::vector<std::string> &texts, Errors &faults)
{
    std::vector<live::Address> addresses;
    for (const std::string &text : texts)
        if (auto address = live::parseAddress(text))
            addresses.push_back(std::move(*address));
        else
            faults.push_back(address.error());
    return addresses;
}

std::vector<std::string> filesOf(const std::vector<live::Address> &addresses)
{
    std::vector<std::string> files;
    for (const live::Address &address : addresses)
        if (address.type == live::SourceType::Tail || address.type == live::SourceType::Replay)
            files.push_back(address.path);
    return files;
}

Expected<live::SourceSettings> settingsOf(const LiveOptions &options)
{
    live::SourceSettings settings;
    settings.secrets.user = options.user;
    settings.caFile = options.caFile;
    settings.isVerified = !options.isInsecure;
    settings.certificateFile = options.certificateFile;
    settings.keyFile = options.keyFile;
    settings.headers = options.headers;
    settings.queries = options.queries;
    settings.intervalSeconds = options.interval;
    settings.replaySpeed = options.speed;
    settings.isRepeated = options.isRepeated;
    settings.fromEnd = options.isFromEnd;
    if (!options.tokenFile.empty()) {
        auto token = secretIn(options.tokenFile, "token");
        if (!token)
            return std::unexpected(token.error());
        settings.secrets.token = std::move(*token);
    }
    if (!options.passwordFile.empty()) {
        auto password = secretIn(options.passwordFile, "password");
        if (!password)
            return std::unexpected(password.error());
        settings.secrets.password = std::move(*password);
    }
    return settings;
}

} // namespace trainyard::cli
