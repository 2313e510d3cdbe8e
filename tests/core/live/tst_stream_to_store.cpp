// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/decoder.h"
#include "core/live/stream_lines.h"
#include "core/runs/overlay/run_steps.h"
#include "core/runs/telemetry/file/check_recording.h"
#include "core/runs/telemetry/read_sources.h"
#include "tests/core/live/told_run.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace trainyard;
using namespace trainyard::live;
using namespace trainyard::live::testing;

class TestStreamToStore : public QObject {
    Q_OBJECT

private slots:
    /// Written as lines, decoded, stored and taken out again, a run is the run that it was.
    void theRunOfTheSamplesComesThroughTheStreamAsItIs()
    {
        const auto file = readSource(TRAINYARD_SOURCE_DIR "/samples/moe-2x70b-16-a800-run.trainyard-recording", {});
        QVERIFY(file);
        Store store;
        const DecoderPtr decoder = makeLinesDecoder("peer");
        const BatchOut out = [&](Batch &&batch) { store.take(std::move(batch)); };
        writeLines(*file, "", [&](TimedLine &&line) { return decoder->take(line.text, line.at, out).has_value(); });
        decoder->end(0, out);
        const Recording whole = store.whole();
        QVERIFY(recording_file::checkRecording(whole));
        std::vector<std::string> told = sentencesOf(whole);
        std::erase_if(told, [](const std::string &one) { return one.starts_with("step_time "); });
        QVERIFY(told == sentencesOf(*file));
        const RunPtr before = makeRun(*file), after = makeRun(whole);
        QCOMPARE(after->steps.size(), before->steps.size());
        for (std::size_t i = 0; i < after->steps.size(); ++i) {
            QCOMPARE(after->steps[i].number, before->steps[i].number);
            QCOMPARE(after->steps[i].end - after->steps[i].start, before->steps[i].end - before->steps[i].start);
            const auto a = sharesOf(*after, after->steps[i]), b = sharesOf(*before, before->steps[i]);
            QCOMPARE(a.size(), b.size());
            for (std::size_t r = 0; r < a.size(); ++r)
                QVERIFY(a[r].shares == b[r].shares);
        }
    }
};

TRAINYARD_GUILESS_TEST(TestStreamToStore)
#include "tst_stream_to_store.moc"
