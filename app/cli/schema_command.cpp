// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.h"

#include "core/plan/plan_io.h"

#include <CLI/CLI.hpp>

namespace trainyard::cli {

void addSchemaCommand(CLI::App &app, int &exitCode)
{
    const auto what = std::make_shared<std::string>("plan");
    CLI::App *command = app.add_subcommand("schema", "Print the JSON Schema of a format");
    command->add_option("FORMAT", *what, "plan (default) or metrics")->check(CLI::IsMember({"plan", "metrics"}));
    command->callback([what, &exitCode] { exitCode = print(*what == "metrics" ? metricsSchema() : planSchema(), "json"); });
}

} // namespace trainyard::cli
