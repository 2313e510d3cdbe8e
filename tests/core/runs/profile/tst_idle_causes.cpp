// SPDX-License-Identifier: GPL-3.0-or-later
// Why a GPU did nothing: small recordings whose gaps can be counted by hand, and every nanosecond of random ones.
#include "core/runs/profile/idle_causes.h"
#include "core/runs/telemetry/read_sources.h"
#include "core/runs/telemetry/summarize.h"
#include "tests/core/runs/overlay/small_runs.h"
#include "tests/core/runs/telemetry/trace_texts.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <random>

using namespace trainyard;
using trainyard::test::SmallRecording;

namespace {

constexpr std::int64_t kMicro = 1000;
using enum RecordedWork;

/// Of one stream, nanosecond by nanosecond: idle where nothing runs, by the work that runs next.
IdleCauses countedByNanosecond(const RecordedSpans &spans, std::int64_t kernelDelay)
{
    Moment last = 0;
    for (std::size_t i = 0; i < spans.size(); ++i)
        last = std::max(last, spans.start[i] + spans.duration[i]);
    std::vector<bool> isBusy(std::size_t(last), false);
    for (std::size_t i = 0; i < spans.size(); ++i)
        for (Moment at = spans.start[i]; at < spans.start[i] + spans.duration[i]; ++at)
            isBusy[std::size_t(at)] = true;
    IdleCauses causes;
    for (Moment at = spans.start.front(); at < last; ++at) {
        if (isBusy[std::size_t(at)])
            continue;
        const Moment began = at;
        while (!isBusy[std::size_t(at)])
            ++at;
        std::size_t next = 0;
        while (spans.start[next] != at)
            ++next;
        const bool isTold = spans.launchedAt[next] != kNoMoment;
        (isTold && spans.launchedAt[next] > began ? causes.hostWait
                : at - began < kernelDelay        ? causes.kernelWait
                                                  : causes.other) += at - began;
    }
    return causes;
}

} // namespace

class TestIdleCauses : public QObject {
    Q_OBJECT
private slots:
    /// Stream 7 works in [10, 20), [30, 40), [42, 50), [70, 80) µs; the second was launched when nothing ran.
    void aGapBelongsToWhatEndsIt()
    {
        SmallRecording small;
        small.rank(3)
            .span(Compute, 10, 20, 5)
            .span(Compute, 30, 40, 25)
            .span(Copy, 42, 50, 30)
            .span(Compute, 70, 80, 45)
            .span(Communication, 35, 75, 20, 9);
        const std::vector<RankIdle> ranks = idleByCause(small.m_recording, { .kernelDelay = 3 * kMicro });
        QCOMPARE(ranks.size(), std::size_t(1));
        QVERIFY(ranks[0].reason.empty());
        QCOMPARE(ranks[0].streams.size(), std::size_t(2));
        const IdleTime &seven = ranks[0].streams[0], &nine = ranks[0].streams[1], &whole = ranks[0].whole;
        QCOMPARE(seven.idle, (IdleCauses { 10 * kMicro, 2 * kMicro, 20 * kMicro }));
        QCOMPARE(seven.busy, 38 * kMicro);
        QCOMPARE(seven.length(), 70 * kMicro);
        QCOMPARE(nine.idle, IdleCauses {});
        QCOMPARE(nine.busy, 40 * kMicro);
        // On some stream it works from 30 to 80
        QCOMPARE(whole.idle, (IdleCauses { 10 * kMicro, 0, 0 }));
        QCOMPARE(whole.busy, 60 * kMicro);
        QCOMPARE(whole.works, std::int64_t(5));
        QCOMPARE(whole.stream, kNoIndex);
    }

    void theDelayIsHtasThirtyNanosecondsAndBelowIt()
    {
        for (const auto &[gap, isKernelWait] : { std::pair(29, true), { 30, false } }) {
            SmallRecording small;
            small.rank(0).span(Compute, 0, 1, 0).span(Compute, 1, 2, 0);
            RecordedSpans &spans = small.m_recording.ranks[0].streams[0].spans;
            spans.start[1] += gap;
            const IdleCauses idle = idleByCause(small.m_recording)[0].whole.idle;
            QCOMPARE(idle.kernelWait, std::int64_t(isKernelWait ? gap : 0));
            QCOMPARE(idle.other, std::int64_t(isKernelWait ? 0 : gap));
        }
    }

    /// Launched at the very end of the work before: HTA asks for later.
    void aLaunchAtTheEndOfWhatRanIsInTime()
    {
        SmallRecording small;
        small.rank(0).span(Compute, 0, 10, 0).span(Compute, 20, 30, 10);
        QCOMPARE(idleByCause(small.m_recording)[0].whole.idle, (IdleCauses { 0, 0, 10 * kMicro }));
    }

    void withoutLaunchesNothingIsTheHosts()
    {
        SmallRecording small;
        small.rank(0).span(Compute, 0, 10).span(Compute, 20, 30);
        const IdleTime whole = idleByCause(small.m_recording)[0].whole;
        QCOMPARE(whole.idle, (IdleCauses { 0, 0, 10 * kMicro }));
        QCOMPARE(whole.launchesTold, std::int64_t(0));
    }

    void annotationsAndWaitsAreNoWork()
    {
        SmallRecording small;
        small.rank(0).span(Compute, 0, 10, 0).span(Wait, 10, 20, 0).span(Annotation, 12, 30).span(Compute, 30, 40, 25);
        QCOMPARE(idleByCause(small.m_recording)[0].whole.idle, (IdleCauses { 20 * kMicro, 0, 0 }));
        SmallRecording none;
        none.rank(0).span(Annotation, 0, 10);
        QCOMPARE(idleByCause(none.m_recording)[0].reason, std::string("there is no kernel of a GPU in it"));
    }

    void randomStreamsAddUpToEveryNanosecond()
    {
        std::mt19937 random(7);
        for (int trial = 0; trial < 200; ++trial) {
            SmallRecording small;
            const auto rank = small.rank(0);
            Moment start = 0;
            for (int i = 0; i < 30; ++i) {
                start += 1 + random() % 9;
                rank.span(Compute, start, start + 1 + random() % 12,
                    random() % 4 == 0 ? -1 : std::max<Moment>(0, start - random() % 15));
            }
            RankRecording &own = small.m_recording.ranks[0];
            for (auto *column : { &own.streams[0].spans.start, &own.streams[0].spans.launchedAt })
                for (Moment &at : *column)
                    at /= at == kNoMoment ? 1 : kMicro; // of a nanosecond each
            for (std::int64_t &duration : own.streams[0].spans.duration)
                duration /= kMicro;
            const std::int64_t delay = 1 + random() % 6;
            const IdleTime told = idleByCause(small.m_recording, { .kernelDelay = delay })[0].streams[0];
            QCOMPARE(told.idle, countedByNanosecond(own.streams[0].spans, delay));
            // The same idle time as the summary has, which knows no causes
            const auto summary = summarize(small.m_recording);
            QCOMPARE(double(told.idle.total()) / 1000, summary[0].breakdown->idle);
            QCOMPARE(double(told.length()) / 1000, summary[0].breakdown->kernelTime);
        }
    }

    /// As HTA told of rank 0 of a trace in whole microseconds, of which it takes its delay, too.
    void aTraceOfEightRanksAsHtaTellsIt()
    {
        if (!testing::hasShared())
            return;
        const auto recording = readSources({ TRAINYARD_SHARED_DIR "/traces/dlrm_a100_8rank" }, {}, 2);
        QVERIFY(recording.has_value());
        const RankIdle rank = idleByCause(*recording, { .kernelDelay = 30 * kMicro })[0];
        int found = 0;
        for (const IdleTime &stream : rank.streams) {
            const std::int64_t number = recording->ranks[0].streams[stream.stream].stream;
            const IdleCauses expected = number == 7 ? IdleCauses { 11448 * kMicro, 123 * kMicro, 0 }
                : number == 22                      ? IdleCauses { 145 * kMicro, 0, 0 }
                : number == 24                      ? IdleCauses { 5906 * kMicro, 18 * kMicro, 0 }
                                                    : IdleCauses { 4740 * kMicro, 3 * kMicro, 0 };
            QCOMPARE(stream.idle, expected);
            ++found;
        }
        QCOMPARE(found, 4);
    }
};

TRAINYARD_APPLESS_TEST(TestIdleCauses)
#include "tst_idle_causes.moc"
