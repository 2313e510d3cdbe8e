// SPDX-License-Identifier: GPL-3.0-or-later
// Makes the runs among the samples anew: moe-2x70b-16-a800-run, which docs/plan-against-run.md shows, and
// atlas-three-datacenters-run, which docs/live.md replays. No machine ran them; the tests' generator replays the task
// graphs of the plans. Equal bytes each time.
//
//   sample-run FOLDER
#include "core/runs/telemetry/recording_file.h"
#include "tests/core/runs/overlay/recorded_run.h"
#include "tests/core/runs/overlay/sample_runs.h"
#include "tests/core/runs/overlay/true_sizes.h"

#include <cstdio>
#include <string>

using namespace trainyard;
using namespace trainyard::test;

namespace {

bool write(
    const std::string &folder, const char *plan, const char *name, const RecordedRunOptions &options, bool hasTrueSizes)
{
    const EvaluationPtr evaluation = evaluatedSample({ plan, [](Plan &) {} });
    const RecordedRun run = recordRun(evaluation, options);
    Recording recording = run.recording;
    if (hasTrueSizes)
        carryTrueSizes(recording, evaluation, run.map);
    recording.name = name;
    const auto written = writeRecording(recording, folder + "/" + plan + "-run.trainyard-recording");
    if (!written)
        std::fprintf(stderr, "%s\n", toString(written.error()).c_str());
    return written.has_value();
}

} // namespace

int main(int count, char **arguments)
{
    if (count != 2) {
        std::fputs("usage: sample-run FOLDER\n", stderr);
        return 2;
    }
    RecordedRunOptions experts;
    experts.steps = 4;
    experts.seed = 7;
    experts.noise = 0.04;
    experts.straggler = 5;
    experts.missing = { 11 };
    experts.computeFactor = 1.06;
    experts.tensorFactor = 1.15;
    experts.dataFactor = 1.25;
    RecordedRunOptions regions; // the link between the second and the third datacenter gets slow
    regions.steps = 28;
    regions.seed = 11;
    regions.noise = 0.02;
    regions.outlierShare = 0;
    regions.sendsTrueBytes = true;
    regions.changes.push_back({ .first = 14, .datacenter = 1, .otherDatacenter = 2, .transfers = 1.6 });
    const std::string folder = arguments[1];
    return write(folder, "moe-2x70b-16-a800", "moe-16-a800", experts, true)
            && write(folder, "atlas-three-datacenters", "three-datacenters", regions, false)
        ? 0
        : 1;
}
