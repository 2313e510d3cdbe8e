// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.h"

#include "core/evaluation/report/metrics_json.h"
#include "core/facts/plan/plan_io.h"
#include "core/live/stream_lines.h"
#include "core/runs/telemetry/recording_file.h"

namespace trainyard::cli {

void addSchemaCommand(CLI::App &app, int &exitCode)
{
    const auto what = std::make_shared<std::string>("plan");
    const Subcommand command(app, "schema", "Print the JSON Schema of a format");
    command.text("FORMAT", *what, "plan (default), metrics, recording or telemetry (a line of a live stream)")
        .oneOf({ "plan", "metrics", "recording", "telemetry" });
    command.callback([what, &exitCode] {
        const std::string schema = *what == "metrics" ? metricsSchema()
            : *what == "recording"                    ? recordingSchema()
            : *what == "telemetry"                    ? live::streamSchema()
                                                      : planSchema();
        exitCode = print(schema, "json");
    });
}

} // namespace trainyard::cli
