// SPDX-License-Identifier: GPL-3.0-or-later
// A run that goes on while it is watched: looks cost what is new, a window of steps is enough, who falls silent is
// told, and runs that begin anew are looked at again.
#include "core/runs/telemetry/read_sources.h"
#include "tests/core/live/alarms/watched_run.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <functional>

using namespace trainyard;
using namespace trainyard::test;
using namespace trainyard::watch;

namespace {

/// 24 ranks: three datacenters, 2 pipelines of 3 stages, tensor 4.
EvaluationPtr threeRegions()
{
    static const EvaluationPtr evaluation = evaluatedSample(smallSamples()[1]);
    return evaluation;
}

/// 8 ranks in two datacenters.
EvaluationPtr twoDatacenters()
{
    static const EvaluationPtr evaluation = evaluatedSample(smallSamples()[2]);
    return evaluation;
}

/// Ranks of three hosts that tell of a step each, and who listens to them.
struct Voices {
    RunOverlayPtr overlay = overlaid(threeRegions(), watchedOptions(2, 12));
    Moment step = Moment(overlay->run->medianSeconds * 1e9);
    Moment zero = 1'750'000'000'000'000'000;
    Watchman watchman;
    std::vector<Heard> heard = [] {
        std::vector<Heard> ranks;
        for (int rank = 0; rank < 24; ++rank)
            ranks.push_back({ rank, "node" + std::to_string(rank / 8), 0, -1 });
        return ranks;
    }();

    void speak(int at, const std::function<bool(int)> &speaks)
    {
        for (Heard &one : heard)
            if (speaks(one.rank)) {
                one.at = zero + at * step;
                one.step = 10 + at;
            }
    }
    void look(Moment now) { watchman.look(*overlay, heard, now); }
};

} // namespace

class LiveWatchTest : public QObject {
    Q_OBJECT
private slots:
    /// A rank that nobody hears for more than three steps while the others are heard; all ranks of a host are one.
    void whoFallsSilentIsTold()
    {
        Voices voices;
        const auto &[overlay, step, zero, watchman, heard] = voices;
        const auto lookAt = [&](int at, const std::function<bool(int)> &speaks) {
            voices.speak(at, speaks);
            voices.look(zero + at * step + 1);
        };
        for (int at = 0; at < 10; ++at)
            lookAt(at, [](int) { return true; });
        QVERIFY2(watchman.alarms().empty(), textOf(watchman.alarms()).constData());
        for (int at = 10; at < 13; ++at)
            lookAt(at, [](int rank) { return rank != 5; });
        QVERIFY2(watchman.alarms().empty(), textOf(watchman.alarms()).constData());
        lookAt(13, [](int rank) { return rank != 5; });
        QVERIFY2(watchman.alarms().size() == 1, textOf(watchman.alarms()).constData());
        QCOMPARE(watchman.alarms()[0].kind, AlarmKind::Silent);
        QCOMPARE(watchman.alarms()[0].place, std::string("rank 5"));
        QCOMPARE(watchman.alarms()[0].since, zero + 9 * step);
        QVERIFY2(watchman.alarms()[0].sentence.find("Rank 5 (stage 1, pipeline 2) is silent") == 0,
            watchman.alarms()[0].sentence.c_str());
        lookAt(14, [](int) { return true; });
        QVERIFY(watchman.alarms().size() == 1 && watchman.alarms()[0].isOver());
        for (int at = 15; at < 20; ++at)
            lookAt(at, [](int rank) { return rank / 8 != 1; });
        QCOMPARE(watchman.alarms().size(), std::size_t(2));
        QCOMPARE(watchman.alarms()[0].place, std::string("host node1"));
        QCOMPARE(watchman.alarms()[0].ranks.size(), std::size_t(8));
    }

    /// A rank dies, and all others wait for it in a collective: soon nobody speaks. It is told once, with who was
    /// first, and is over when somebody speaks again.
    void aRunThatHangsIsTold()
    {
        Voices voices;
        const auto &[overlay, step, zero, watchman, heard] = voices;
        for (int at = 0; at < 10; ++at) {
            voices.speak(at, [](int) { return true; });
            voices.look(zero + at * step + 1);
        }
        voices.speak(10, [](int rank) { return rank != 5; });
        voices.look(zero + 10 * step + 1);
        for (int at = 11; at < 14; ++at) { // time goes on, nobody tells anything
            voices.look(zero + at * step);
            QVERIFY2(watchman.alarms().empty(), textOf(watchman.alarms()).constData());
        }
        for (int at = 14; at < 20; ++at) {
            voices.look(zero + at * step);
            QVERIFY2(watchman.alarms().size() == 1, textOf(watchman.alarms()).constData());
        }
        const Alarm &alarm = watchman.alarms()[0];
        QCOMPARE(alarm.kind, AlarmKind::Silent);
        QCOMPARE(alarm.since, zero + 10 * step);
        QCOMPARE(alarm.ranks.size(), std::size_t(24));
        QVERIFY2(alarm.sentence.starts_with("No rank is heard of since"), alarm.sentence.c_str());
        QVERIFY2(alarm.sentence.find("the last in step 20; rank 5") != std::string::npos, alarm.sentence.c_str());
        QVERIFY2(alarm.sentence.ends_with("fell silent first"), alarm.sentence.c_str());
        voices.speak(20, [](int) { return true; });
        voices.look(zero + 20 * step + 1);
        QVERIFY(watchman.alarms().size() == 1 && watchman.alarms()[0].isOver());
    }

    /// As a window sees a live run: after each step its last eight. Clean runs stay silent; a link is told within ten
    /// steps of its change, once, and nothing else is.
    void aLiveRunIsWatchedThroughAWindow()
    {
        constexpr std::size_t kWindow = 8;
        const auto alarmsOfLive = [&](const RecordedRunOptions &options, int &told) {
            const Recording whole = recordRun(twoDatacenters(), options).recording;
            Watchman watchman;
            for (std::size_t step = 1; step <= std::size_t(options.steps); ++step) {
                const std::size_t first = step > kWindow ? step - kWindow : 0;
                std::vector<Heard> heard;
                for (int rank = 0; rank < 8; ++rank)
                    heard.push_back({ rank, "node0", Moment(step) * 1'000'000'000, std::int64_t(9 + step) });
                const RunPtr run = makeRun(stepsOf(whole, first, step));
                watchman.look(*overlayRun(twoDatacenters(), run, {}), heard, Moment(step) * 1'000'000'000);
                if (told < 0 && !watchman.alarms().empty())
                    told = int(step);
            }
            return watchman.alarms();
        };
        int told = -1;
        for (unsigned seed = 1; seed <= 6; ++seed) {
            const auto none = alarmsOfLive(watchedOptions(seed, 60), told);
            QVERIFY2(none.empty(), textOf(none).constData());
        }
        RecordedRunOptions options = watchedOptions(3, 60);
        options.changes = { { .first = 30, .datacenter = 0, .otherDatacenter = 1, .transfers = 1 / 0.61 } };
        const auto alarms = alarmsOfLive(options, told);
        QVERIFY2(alarms.size() == 1 && alarms[0].kind == AlarmKind::SlowLink, textOf(alarms).constData());
        QVERIFY2(std::abs(alarms[0].share - 0.61) < 0.04 && std::abs(alarms[0].firstStep - 40) <= 2,
            textOf(alarms).constData());
        QVERIFY2(told > 30 && told <= 40, qPrintable(QString::number(told)));
    }

    /// The run among the samples, whose link between the second and the third datacenter takes 1.6 times as long from
    /// its fifteenth step on.
    void theSampleTellsOfItsLink()
    {
        auto recording =
            readSources({ TRAINYARD_SOURCE_DIR "/samples/atlas-three-datacenters-run.trainyard-recording" }, {}, 2);
        QVERIFY(recording.has_value());
        const EvaluationPtr evaluation = evaluatedSample(smallSamples()[3]);
        Watchman watchman;
        watchman.look(*overlayRun(evaluation, makeRun(std::move(*recording)), {}), {}, 0);
        QVERIFY2(watchman.alarms().size() == 1 && watchman.alarms()[0].kind == AlarmKind::SlowLink,
            textOf(watchman.alarms()).constData());
        const Alarm &alarm = watchman.alarms()[0];
        QVERIFY2(std::abs(alarm.share - 1 / 1.6) < 0.03, textOf(watchman.alarms()).constData());
        QCOMPARE(alarm.firstStep, watchman.steps().front().number + 14);
        QVERIFY((std::minmax(alarm.datacenter, alarm.otherDatacenter) == std::minmax(1, 2)));
    }

    /// A run that begins anew at an earlier step is looked at again from there.
    void aRestartIsLookedAtAgain()
    {
        std::vector<double> seconds = loggedSteps(1, 60, 0, 0, 0);
        Watchman watchman;
        watchman.look(*overlayRun(nullptr, makeRun(logOf(seconds)), {}), { { 0, "h", 1, 60 } }, 1);
        QCOMPARE(watchman.steps().back().number, std::int64_t(60));
        for (std::size_t i = 39; i < 60; ++i)
            seconds[i] = 3;
        watchman.look(*overlayRun(nullptr, makeRun(logOf(seconds)), {}), { { 0, "h", 2, 41 } }, 2);
        QCOMPARE(watchman.steps().size(), std::size_t(60));
        QCOMPARE(watchman.steps()[39].seconds, 3.0);
        QVERIFY(watchman.steps()[38].seconds < 2.1);
    }

    /// The usual reason is a node that is lost: what its ranks said last, in a step that comes again, holds nothing up.
    void aRestartWithoutARankIsLookedAtAgainToo()
    {
        constexpr Moment kSecond = 1'000'000'000;
        std::vector<double> seconds = loggedSteps(1, 60, 0, 0, 0);
        Watchman watchman;
        watchman.look(*overlayRun(nullptr, makeRun(logOf(seconds)), {}),
            { { 0, "h", 1'000 * kSecond, 60 }, { 1, "lost", 1'000 * kSecond, 60 } }, 1'000 * kSecond);
        for (std::size_t i = 39; i < 60; ++i)
            seconds[i] = 3;
        watchman.look(*overlayRun(nullptr, makeRun(logOf(seconds)), {}),
            { { 0, "h", 1'300 * kSecond, 41 }, { 1, "lost", 1'000 * kSecond, 60 } }, 1'300 * kSecond);
        QCOMPARE(watchman.steps().size(), std::size_t(60));
        QCOMPARE(watchman.steps()[39].seconds, 3.0);
    }

    /// Looked at after every step or once at the end: the same alarm, told when it can be.
    void aLookSeesOnlyWhatIsNew()
    {
        Watchman often, once;
        const std::vector<double> seconds = loggedSteps(3, 100, 0.03, 50, 100);
        int told = -1;
        for (int n = 1; n <= 100; ++n) {
            const std::vector<double> part(seconds.begin(), seconds.begin() + n);
            often.look(*overlayRun(nullptr, makeRun(logOf(part)), {}), {}, 0);
            QCOMPARE(often.steps().size(), std::size_t(n));
            if (told < 0 && !often.alarms().empty())
                told = n;
        }
        once.look(*overlayRun(nullptr, makeRun(logOf(seconds)), {}), {}, 0);
        QVERIFY2(told > 50 && told <= 58, qPrintable(QString::number(told)));
        QCOMPARE(often.alarms().size(), std::size_t(1));
        QCOMPARE(often.alarms()[0].firstStep, once.alarms()[0].firstStep);
        for (std::size_t i = 0; i < 100; ++i)
            QCOMPARE(often.steps()[i].seconds, seconds[i]);
        often.look(*overlayRun(nullptr, makeRun(logOf(seconds)), {}), {}, 0); // nothing new
        QCOMPARE(often.steps().size(), std::size_t(100));
    }

    /// Long sessions are thinned: the shortest and the longest of each four old steps stay.
    void manyStepsAreThinned()
    {
        std::vector<double> seconds(70'000, 1.0);
        seconds[1000] = 5;
        Watchman watchman;
        watchman.look(*overlayRun(nullptr, makeRun(logOf(seconds)), {}), {}, 0);
        QVERIFY(watchman.steps().size() <= 65'536);
        QCOMPARE(watchman.steps().back().number, std::int64_t(70'000));
        QVERIFY(std::ranges::any_of(watchman.steps(), [](const auto &one) { return one.seconds == 5; }));
        QVERIFY(std::ranges::is_sorted(watchman.steps(), {}, &Watchman::StepFigures::number));
    }

    void aRunWithoutAnythingIsSilent()
    {
        Watchman watchman;
        watchman.look(RunOverlay(), {}, 0);
        watchman.look(*overlayRun(nullptr, makeRun(Recording()), {}), { { 3, "h", 5, 7 } }, 10);
        QVERIFY(watchman.alarms().empty() && watchman.steps().empty());
        QVERIFY(std::isnan(watchman.predicted().seconds));
    }
};

TRAINYARD_APPLESS_TEST(LiveWatchTest)
#include "tst_live_watch.moc"
