// SPDX-License-Identifier: GPL-3.0-or-later
// Logs in which megabytes of NCCL's debug lines stand before the steps of the training run: they are logs of that run,
// and what NCCL told stays with them.
#include "tests/core/runs/telemetry/readers/reader_trial.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace trainyard;
using namespace trainyard::trial;

namespace {

std::string debugLines(int count)
{
    std::string text;
    for (int rank = 0; rank < count; ++rank)
        text += "n" + std::to_string(rank / 8) + ":" + std::to_string(100 + rank) + ":200 [" + std::to_string(rank % 8)
            + "] NCCL INFO comm 0x1 rank " + std::to_string(rank) + " nranks " + std::to_string(count) + " cudaDev "
            + std::to_string(rank % 8) + " busId c8000 commId 0x2 - Init COMPLETE\n";
    return text + "n0:100:200 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] [send] via NET/Socket/0\n";
}

std::string steps()
{
    std::string text;
    for (int step = 1; step <= 3; ++step)
        text += " [2024-05-01 12:00:0" + std::to_string(step) + "] iteration        " + std::to_string(step)
            + "/     100 | consumed samples:           64 | elapsed time per iteration (ms): 2500.0 | learning rate: "
              "1.0E-04 | global batch size:    64 | lm loss: 1.000000E+01 | loss scale: 1.0 | grad norm: 1.000 | "
              "number of skipped iterations:   0 | number of nan iterations:   0 |\n";
    return text;
}

} // namespace

class TestMixedLogs : public QObject {
    Q_OBJECT

private slots:
    void stepsBehindMegabytesOfDebugLinesAreRead()
    {
        const std::string text = debugLines(8192) + steps() + debugLines(8);
        QVERIFY(text.find("iteration") > 65536);
        const Recording r = read("run.log", text);
        QCOMPARE(r.sources.at(0).kind, SourceKind::MegatronLog);
        const Recording alone = read("run.log", steps());
        QVERIFY(seriesOf(r, "step_time", "") && seriesOf(alone, "step_time", ""));
        QCOMPARE(seriesOf(r, "step_time", "")->value, seriesOf(alone, "step_time", "")->value);
        QCOMPARE(valueOf(r, "step_time", ""), 2.5);
        QCOMPARE(r.ranks.size(), std::size_t(8192));
        QVERIFY(r.ranks[9].host == "n1" && hasNote(r, "NET/Socket"));
    }

    void debugLinesAloneStayADebugLog()
    {
        const Recording r = read("run.log", debugLines(16) + "srun: a line of nobody\n");
        QCOMPARE(r.sources.at(0).kind, SourceKind::NcclDebugLog);
        QCOMPARE(r.ranks.size(), std::size_t(16));
    }
};

TRAINYARD_APPLESS_TEST(TestMixedLogs)
#include "tst_mixed_logs.moc"
