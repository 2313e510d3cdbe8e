// SPDX-License-Identifier: GPL-3.0-or-later
// Makes samples/moe-2x70b-16-a800-run.trainyard-recording anew: the run that docs/plan-against-run.md shows. No machine
// ran it; the tests' generator replays the plan's own task graph. Equal bytes each time.
//
//   sample-run FILE
#include "core/telemetry/recording_file.h"
#include "tests/core/overlay/recorded_run.h"
#include "tests/core/overlay/sample_runs.h"
#include "tests/core/overlay/true_sizes.h"

#include <cstdio>

using namespace trainyard;
using namespace trainyard::test;

int main(int count, char **arguments)
{
    if (count != 2) {
        std::fputs("usage: sample-run FILE\n", stderr);
        return 2;
    }
    RecordedRunOptions options;
    options.steps = 4;
    options.seed = 7;
    options.noise = 0.04;
    options.straggler = 5;
    options.missing = { 11 };
    options.computeFactor = 1.06;
    options.tensorFactor = 1.15;
    options.dataFactor = 1.25;
    const EvaluationPtr plan = evaluatedSample({ "moe-2x70b-16-a800", [](Plan &) {} });
    const RecordedRun run = recordRun(plan, options);
    Recording recording = run.recording;
    carryTrueSizes(recording, plan, run.map);
    recording.name = "moe-16-a800";
    if (const auto written = writeRecording(recording, arguments[1]); !written) {
        std::fprintf(stderr, "%s\n", toString(written.error()).c_str());
        return 1;
    }
    return 0;
}
