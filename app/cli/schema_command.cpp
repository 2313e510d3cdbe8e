// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.h"

#include "core/plan/plan_io.h"
#include "core/report/metrics_json.h"

namespace trainyard::cli {

void addSchemaCommand(CLI::App &app, int &exitCode)
{
    const auto what = std::make_shared<std::string>("plan");
    const Subcommand command(app, "schema", "Print the JSON Schema of a format");
    command.text("FORMAT", *what, "plan (default) or metrics").oneOf({ "plan", "metrics" });
    command.callback(
        [what, &exitCode] { exitCode = print(*what == "metrics" ? metricsSchema() : planSchema(), "json"); });
}

} // namespace trainyard::cli
