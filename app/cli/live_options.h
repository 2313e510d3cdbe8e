#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the commands of live telemetry take beside their addresses: secrets in files, certificates, speeds. Main thread
// only.

#include "app/cli/parser.h"
#include "core/live/address.h"

#include <string>
#include <vector>

namespace trainyard::cli {

struct LiveOptions {
    std::string tokenFile, user, passwordFile, caFile, certificateFile, keyFile;
    std::vector<std::string> queries, headers;
    double interval = 5, speed = 1;
    bool isInsecure = false, isRepeated = false, isFromEnd = false;
};

void addTokenOption(const Subcommand &command, LiveOptions &options, const std::string &help);
/// Of who connects to a server: whom it trusts.
void addTrustOptions(const Subcommand &command, LiveOptions &options);
/// Of who is connected to.
void addCertificateOptions(const Subcommand &command, LiveOptions &options);
void addSpeedOptions(const Subcommand &command, LiveOptions &options);
/// Of who asks and hears sources of any kind: their addresses, and the options that one or the other heeds.
void addSourceOptions(const Subcommand &command, std::vector<std::string> &addresses, LiveOptions &options);
/// Those that are addresses; what is wrong with the others goes to `faults`.
[[nodiscard]] std::vector<live::Address> addressesIn(const std::vector<std::string> &texts, Errors &faults);
/// Files that sources read.
[[nodiscard]] std::vector<std::string> filesOf(const std::vector<live::Address> &addresses);

/// With the secrets read from their files. Errors: of those files.
[[nodiscard]] Expected<live::SourceSettings> settingsOf(const LiveOptions &options);

} // namespace trainyard::cli
