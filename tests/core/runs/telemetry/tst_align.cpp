// SPDX-License-Identifier: GPL-3.0-or-later
// Clocks of ranks made one by the ends of what they took part in together.

#include "core/runs/telemetry/align.h"
#include "core/runs/telemetry/read_sources.h"
#include "tests/support/test_program.h"

#include "tests/core/runs/telemetry/kineto_job.h"

#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <random>

using namespace trainyard;

namespace {

struct Wrong { // a clock: shows t + offset + drift × (t - kMiddle) at the true time t
    double offset = 0, drift = 0;
    [[nodiscard]] Moment shown(double t) const { return std::llround(t + offset + drift * (t - kMiddle)); }
    static constexpr double kMiddle = 5e9;
};

/// Collectives of groups over ten seconds; each rank enters when it likes, all end together, give or take `jitter` ns.
class Scene {
public:
    explicit Scene(std::vector<Wrong> clocks, double jitter = 0, unsigned seed = 1)
        : m_clocks(std::move(clocks))
        , m_jitter(jitter)
        , m_random(seed)
        , m_nameOf(recording.names)
    {
        for (std::size_t i = 0; i < m_clocks.size(); ++i)
            recording.ranks.emplace_back().rank = static_cast<int>(i);
    }

    void addGroup(const std::vector<int> &ranks, int count, const std::string &operation = "all_reduce",
        double outliers = 0, double lag = 0)
    {
        const auto group = static_cast<std::uint32_t>(recording.groups.size());
        recording.groups.push_back({ "group " + std::to_string(group), "", ranks });
        std::normal_distribution<double> noise;
        std::uniform_real_distribution<double> share;
        for (int i = 0; i < count; ++i) {
            const double end = length * (i + 0.5) / count;
            for (const int rank : ranks) {
                const bool isReceiver = operation == "send" && rank == ranks.back();
                const double late = share(m_random) < outliers ? 5e5 * share(m_random) : m_jitter * noise(m_random);
                const double ended = end + late + (isReceiver ? lag : 0), began = end - 1e6 * (1 + share(m_random));
                RecordedCollective &one = recording.ranks[std::size_t(rank)].collectives.emplace_back();
                one.group = group;
                one.operation = m_nameOf(isReceiver ? "recv" : operation);
                one.bytes = 1024;
                one.start = m_clocks[std::size_t(rank)].shown(began);
                one.duration = m_clocks[std::size_t(rank)].shown(ended) - one.start;
            }
        }
        for (RankRecording &rank : recording.ranks)
            std::ranges::stable_sort(rank.collectives, {}, &RecordedCollective::start);
    }

    [[nodiscard]] ClockAlignment align() const { return alignClocks(recording, matchCollectives(recording)); }

    /// By how much the aligned clock of a rank is beside that of another, at worst over the ten seconds; ns.
    [[nodiscard]] double worst(const ClockAlignment &alignment, std::size_t rank, std::size_t reference = 0) const
    {
        double most = 0;
        for (const double t : { 0.0, 2.5e9, 5e9, 7.5e9, 1e10 })
            most = std::max(most, std::abs(aligned(alignment, rank, t) - aligned(alignment, reference, t)));
        return most;
    }

    Recording recording;
    double length = 1e10; // ns, of the groups to come

private:
    [[nodiscard]] double aligned(const ClockAlignment &alignment, std::size_t rank, double t) const
    {
        const Moment shown = m_clocks[rank].shown(t);
        const ClockFit &fit = alignment.ranks[rank];
        return double(shown) - fit.offset - fit.drift * double(shown - alignment.about);
    }

    std::vector<Wrong> m_clocks;
    double m_jitter;
    std::mt19937 m_random;
    NameTable m_nameOf;
};

const std::vector<Wrong> kFour { { 3e6, 4e-6 }, { -5e7, 2e-5 }, { 5e7, -2e-5 }, { 1e5, 1e-5 } };

} // namespace

class AlignTest : public QObject {
    Q_OBJECT
private slots:
    void clocksOfOneGroupBecomeOne()
    {
        Scene scene(kFour);
        scene.addGroup({ 0, 1, 2, 3 }, 50);
        const ClockAlignment alignment = scene.align();
        QVERIFY(alignment.isWhole());
        QCOMPARE(alignment.islands, 1);
        QCOMPARE(alignment.ranks[0].offset, 0.0);
        QCOMPARE(alignment.ranks[0].drift, 0.0);
        for (std::size_t i = 0; i < 4; ++i) {
            QCOMPARE(alignment.ranks[i].matches, 50);
            QVERIFY(scene.worst(alignment, i) < 3); // moments are whole nanoseconds
        }
    }

    /// Errors of a mean of n ends with a jitter of s are about s / sqrt(n); of outliers only their number counts.
    void jitterAndOutliersAreForgiven()
    {
        for (unsigned seed = 1; seed <= 20; ++seed) {
            Scene scene(kFour, 5000, seed);
            scene.addGroup({ 0, 1, 2, 3 }, 200, "all_reduce", 0.05);
            const ClockAlignment alignment = scene.align();
            for (std::size_t i = 1; i < 4; ++i) {
                QVERIFY2(scene.worst(alignment, i) < 5 * 5000 * std::sqrt(2.0 / 200) * 2,
                    qPrintable(QString::number(scene.worst(alignment, i))));
                QVERIFY(alignment.ranks[i].residual > 2000 && alignment.ranks[i].residual < 10'000);
            }
            QVERIFY(alignment.residual > 2000 && alignment.residual < 10'000);
        }
    }

    /// Eight ends in 20 ms that are a microsecond or two apart make slopes of hundreds of ppm, of which clocks know
    /// nothing.
    void aShortRecordingTellsNoDrift()
    {
        for (unsigned seed = 1; seed <= 200; ++seed) {
            Scene scene({ {}, { 1e6, 0 }, { -2e6, 1e-5 } }, 1500, seed);
            scene.length = 2e7;
            scene.addGroup({ 0, 1, 2 }, 8);
            for (const ClockFit &fit : scene.align().ranks)
                QCOMPARE(fit.drift, 0.0);
        }
        // Where a few ends are far enough apart, a drift is taken only where it is surely one
        int taken = 0;
        for (unsigned seed = 1; seed <= 200; ++seed) {
            Scene scene({ {}, { 1e6, 0 } }, 1500, seed);
            scene.length = 5e8;
            scene.addGroup({ 0, 1 }, 8);
            taken += scene.align().ranks[1].drift != 0;
        }
        QVERIFY2(taken <= 4, qPrintable(QString::number(taken)));
    }

    void offsetsGoOnFromGroupToGroup()
    {
        Scene scene({ kFour[0], kFour[1], kFour[2], kFour[3], { 2e7, 0 }, { -1e7, -1e-5 } });
        for (int i = 0; i + 1 < 6; ++i)
            scene.addGroup({ i, i + 1 }, 20);
        const ClockAlignment alignment = scene.align();
        QVERIFY(alignment.isWhole());
        for (std::size_t i = 0; i < 6; ++i)
            QVERIFY(scene.worst(alignment, i) < 10);
    }

    /// Hours apart, as files are whose time bases differ, and Unix times in nanoseconds, which no double holds.
    void clocksMayBeFarApart()
    {
        Scene scene({ { 1.7e18, 0 }, { 1.7e18 + 7.2e12, 2e-5 }, { 1.7e18 - 3.6e12, -2e-5 } });
        scene.addGroup({ 0, 1, 2 }, 50);
        const ClockAlignment alignment = scene.align();
        Recording aligned = scene.recording;
        applyAlignment(aligned, alignment);
        for (std::size_t i = 0; i < 50; ++i) {
            const auto endOf = [&](std::size_t rank) {
                const RecordedCollective &one = aligned.ranks[rank].collectives[i];
                return one.start + one.duration;
            };
            QVERIFY(std::abs(endOf(1) - endOf(0)) < 1000); // the test's own doubles count in steps of 256 ns
            QVERIFY(std::abs(endOf(2) - endOf(0)) < 1000);
        }
    }

    void islandsAreTold()
    {
        Scene scene({ kFour[0], kFour[1], kFour[2], kFour[3], { 7e6, 0 } });
        scene.addGroup({ 0, 1 }, 30);
        scene.addGroup({ 2, 3, 4 }, 30);
        const ClockAlignment alignment = scene.align();
        QVERIFY(!alignment.isWhole());
        QCOMPARE(alignment.islands, 2);
        QCOMPARE(alignment.ranks[0].island, 1);
        QCOMPARE(alignment.ranks[1].island, 1);
        QCOMPARE(alignment.ranks[2].island, 0); // the largest
        QVERIFY(scene.worst(alignment, 1, 0) < 3);
        QVERIFY(scene.worst(alignment, 4, 2) < 3);
        for (const ClockFit &fit : alignment.ranks)
            QVERIFY(fit.refused.empty());
    }

    void fewerThanFiveMatchesAreRefused()
    {
        Scene scene(kFour);
        scene.addGroup({ 0, 1 }, 5);
        scene.addGroup({ 0, 1, 2 }, 4);
        const ClockAlignment alignment = scene.align();
        QVERIFY(!alignment.isWhole());
        QCOMPARE(alignment.ranks[1].island, 0);
        QCOMPARE(alignment.ranks[1].matches, 9);
        QCOMPARE(alignment.ranks[2].island, -1);
        QCOMPARE(alignment.ranks[2].offset, 0.0);
        QCOMPARE(alignment.ranks[2].refused,
            std::string(
                "Rank 2 shares no more than 4 matched collectives with another rank, and its clock is told by 5 "
                "or more: its times stay as it recorded them"));
        QCOMPARE(alignment.ranks[3].island, -1);
        QVERIFY(alignment.ranks[3].refused.empty()); // it shows no moment
        Recording recording = scene.recording;
        applyAlignment(recording, alignment);
        QVERIFY(recording.ranks[2].collectives == scene.recording.ranks[2].collectives);
    }

    /// receive - send is offset + lag one way and offset - lag the other way.
    void transfersOfBothDirectionsTellTheOffset()
    {
        Scene scene({ kFour[0], kFour[1] }, 1000);
        scene.addGroup({ 0, 1 }, 60, "send", 0, 2e7); // 20 ms over the WAN
        Scene oneWay = scene;
        const ClockAlignment half = oneWay.align();
        QVERIFY(std::abs(half.ranks[1].offset - (-5.3e7 + 2e7)) < 1e5); // late by what is under way
        scene.addGroup({ 1, 0 }, 60, "send", 0, 2e7);
        // in one group, as a pair of ranks has one communicator
        for (RankRecording &rank : scene.recording.ranks)
            for (RecordedCollective &one : rank.collectives)
                one.group = 0;
        const ClockAlignment alignment = scene.align();
        QVERIFY(scene.worst(alignment, 1) < 2000);
        QVERIFY(alignment.residual < 3000);
        scene.addGroup({ 0, 1 }, 5); // what ends together says more
        QVERIFY(scene.worst(scene.align(), 1) < 50'000);
    }

    void aContradictingPairIsOutvoted()
    {
        Scene scene(kFour);
        for (const auto &[a, b] :
            { std::pair(0, 1), std::pair(0, 2), std::pair(0, 3), std::pair(1, 2), std::pair(1, 3) })
            scene.addGroup({ a, b }, 40);
        scene.addGroup({ 2, 3 }, 10);
        RankRecording &rank = scene.recording.ranks[3];
        for (RecordedCollective &one : rank.collectives)
            one.duration += one.group == 5 ? 1'000'000 : 0;
        const ClockAlignment alignment = scene.align();
        for (std::size_t i = 1; i < 4; ++i)
            QVERIFY2(scene.worst(alignment, i) < 1000, qPrintable(QString::number(scene.worst(alignment, i))));
    }

    void everyMomentOfARankIsCorrected()
    {
        Scene scene({ { 0, 0 }, kFour[1] });
        scene.addGroup({ 0, 1 }, 50);
        RankRecording &rank = scene.recording.ranks[1];
        const auto shown = [](double t) { return kFour[1].shown(t); };
        RecordedStream &stream = rank.streams.emplace_back();
        stream.spans.start = { shown(1e9), shown(9e9) };
        stream.spans.duration = { shown(2e9) - shown(1e9), 100 };
        stream.spans.launchedAt = { shown(0.5e9), kNoMoment };
        rank.steps = { { 7, shown(0), shown(1e10) } };
        rank.source = 0;
        scene.recording.series.push_back(
            { .name = "power", .rank = 1, .at = { shown(3e9) }, .value = { 1 }, .source = 0 });
        scene.recording.series.push_back(
            { .name = "loss", .rank = 1, .isByStep = true, .at = { 3 }, .value = { 1 }, .source = 0 });
        const ClockAlignment alignment = scene.align();
        Recording recording = scene.recording;
        applyAlignment(recording, alignment);
        const RankRecording &aligned = recording.ranks[1];
        const auto is = [](Moment moment, double t) { return std::abs(double(moment) - t) < 5; };
        QVERIFY(is(aligned.streams[0].spans.start[0], 1e9) && is(aligned.streams[0].spans.start[1], 9e9));
        QVERIFY(is(aligned.streams[0].spans.duration[0], 1e9));
        QVERIFY(is(aligned.streams[0].spans.launchedAt[0], 0.5e9));
        QCOMPARE(aligned.streams[0].spans.launchedAt[1], kNoMoment);
        QVERIFY(is(aligned.steps[0].start, 0) && is(aligned.steps[0].end, 1e10));
        QVERIFY(is(recording.series[0].at[0], 3e9));
        QCOMPARE(recording.series[1].at[0], Moment(3));
        // They were later by offset + drift × (moment - alignedAt)
        const Moment raw = scene.recording.ranks[1].collectives[20].start;
        const double off = aligned.clockOffset + aligned.clockDrift * double(raw - recording.alignedAt);
        QVERIFY(is(aligned.collectives[20].start, double(raw) - off));
    }

    /// Two alignments of the same recording, together, are what took its moments where they are.
    void alignmentsAddUp()
    {
        Scene scene(kFour, 3000);
        scene.addGroup({ 0, 1, 2, 3 }, 50);
        Recording recording = scene.recording;
        ClockAlignment alignment = scene.align();
        applyAlignment(recording, alignment);
        alignment.about += 1'000'000'000;
        alignment.ranks[2].offset = 12345;
        alignment.ranks[2].drift = 3e-6;
        alignment.ranks[3].island = -1;
        applyAlignment(recording, alignment);
        for (std::size_t i = 0; i < 4; ++i)
            for (const std::size_t k : { 0, 49 }) {
                const Moment raw = scene.recording.ranks[i].collectives[k].start;
                const RankRecording &rank = recording.ranks[i];
                const double off = rank.clockOffset + rank.clockDrift * double(raw - recording.alignedAt);
                QVERIFY(std::abs(double(rank.collectives[k].start) - (double(raw) - off)) < 3);
            }
    }

    void aSecondFileOfARankGetsTheClockOfTheFirst()
    {
        Scene scene(kFour);
        scene.addGroup({ 0, 1, 2, 3 }, 50);
        scene.recording.ranks[3].rank = 2;
        const ClockAlignment alignment = scene.align();
        QVERIFY(alignment.isWhole());
        QCOMPARE(alignment.ranks[3].offset, alignment.ranks[2].offset);
    }

    void aSingleRankIsItsOwnClock()
    {
        Scene scene({ kFour[1] });
        scene.addGroup({ 0 }, 20);
        const ClockAlignment alignment = scene.align();
        QVERIFY(alignment.isWhole());
        QVERIFY(alignment.ranks[0].refused.empty());
        QVERIFY(alignClocks({}, {}).isWhole());
    }

    /// Medians of the ends against rank 0, microseconds: of a job of our own the clocks that it was given, of real
    /// traces those of shared/traces/rank_alignment_example.txt.
    void endsOfRealTracesAreSkewedAsMeasured()
    {
        const QTemporaryDir own;
        testing::KinetoJob job { .ranks = 5, .layers = 20 };
        const std::vector<double> clocks { 0, 8, -3, 250, -41 };
        job.clock = [&](int rank) { return std::int64_t(clocks[std::size_t(rank)]); };
        job.late = [](int rank, int layer) { return 30 * ((rank + layer) % 3); };
        testing::writeKineto(job, own.path().toStdString());
        std::vector<std::pair<std::string, std::vector<double>>> measured { { own.path().toStdString(), clocks } };
        if (testing::hasShared()) {
            const std::string traces = TRAINYARD_SHARED_DIR "/traces/";
            measured.push_back({ traces + "megatron_tp8_a100_8rank", { 0, 8.5, 8, 11, 7, 2, 1, 0 } });
            measured.push_back({ traces + "dlrm_a100_8rank", { 0, -0.5, -0.5, -1.5, -1, -1, -1, -1 } });
        }
        for (const auto &[folder, medians] : measured) {
            auto recording = readSources({ folder }, {}, 2);
            QVERIFY(recording.has_value());
            const auto matched = matchCollectives(*recording);
            const std::vector<EndSkew> skews = endSkews(*recording, matched, 0);
            QCOMPARE(skews.size(), medians.size());
            for (std::size_t i = 0; i < medians.size(); ++i)
                QCOMPARE(skews[i].median, medians[i] * 1000);
            const ClockAlignment alignment = alignClocks(*recording, matched);
            QVERIFY(alignment.isWhole());
            for (std::size_t i = 1; i < medians.size(); ++i) {
                QVERIFY(std::abs(alignment.ranks[i].offset - medians[i] * 1000) < 3'000);
                QVERIFY(std::abs(alignment.ranks[i].residual) < 12'000);
                // One host: its ranks have one clock; the second at most of these traces show no other
                QCOMPARE(alignment.ranks[i].drift, 0.0);
            }
            applyAlignment(*recording, alignment);
            for (const EndSkew &skew : endSkews(*recording, matchCollectives(*recording), 0))
                QVERIFY(std::abs(skew.median) < 3'000);
        }
    }
};

TRAINYARD_GUILESS_TEST(AlignTest)
#include "tst_align.moc"
