// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/advice/evaluate.h"
#include "core/facts/plan/plan_io.h"
#include "tests/support/sample_timelines.h"
#include "tests/support/test_program.h"
#include "views/timeline/track_layout.h"

#include <QTest>

using namespace trainyard;

namespace {

TrackLayoutOptions folding(const QString &datacenter)
{
    TrackLayoutOptions options;
    options.folded = { datacenter };
    return options;
}

TrackLayoutOptions pinning(const QString &row)
{
    TrackLayoutOptions options;
    options.pinned = { row };
    return options;
}

TrackLayoutOptions ofHeight(int pixels)
{
    TrackLayoutOptions options;
    options.availableHeight = pixels;
    return options;
}

QStringList labels(const TrackLayout &layout)
{
    QStringList texts;
    for (const TrackRow &row : layout.rows)
        texts << (row.detail.isEmpty() ? row.label : row.label + QStringLiteral(" · ") + row.detail);
    return texts;
}

} // namespace

class TrackLayoutTest : public QObject {
    Q_OBJECT
    const test::SampleShape m_shape { .datacenters = 2, .stages = 4, .microBatches = 2 };
private slots:
    void channelsLieUnderTheDatacenterThatSends()
    {
        QCOMPARE(labels(layOutTracks(*test::sampleEvaluation(m_shape), {})),
            (QStringList {
                "stage 1 · 16 pipelines", "stage 2", "→ Iowa", "stage 3 · 16 pipelines", "stage 4", "→ Virginia" }));
    }

    void shortRowsSayWhatTheyHaveInCommonClearOfTheName()
    {
        TrackLayoutOptions flat;
        flat.availableHeight = 80;
        const TrackLayout layout =
            layOutTracks(*test::sampleEvaluation({ .datacenters = 1, .stages = 8, .microBatches = 2 }), flat);
        const auto said = std::ranges::find_if(layout.rows, [](const TrackRow &row) { return !row.detail.isEmpty(); });
        QVERIFY(said != layout.rows.end());
        QVERIFY(said->y - layout.groups[0].y >= 13);
        QCOMPARE(std::ranges::count_if(layout.rows, [](const TrackRow &row) { return !row.detail.isEmpty(); }), 1);
    }

    // Layer by layer every class has one stage: its exchanges say what the datacenter's name leaves no room for.
    void everySetOfALayerLoopSaysItsSamples()
    {
        EvaluationWorkspace workspace;
        const Plan lab = *readPlan(std::string(TRAINYARD_SOURCE_DIR) + "/samples/cephalo-lab.trainyard.json");
        const EvaluationPtr evaluation = *evaluate(std::make_shared<const Plan>(lab), builtinCatalogue(), workspace);
        for (const int height : { 120, 200, 400, 2000 }) {
            const TrackLayout layout = layOutTracks(*evaluation, ofHeight(height));
            QStringList said;
            for (const TrackRow &row : layout.rows)
                if (!row.detail.isEmpty())
                    said << row.detail;
            QCOMPARE(said,
                (QStringList { QStringLiteral("13 samples"), QStringLiteral("12 samples"), QStringLiteral("34 samples"),
                    QStringLiteral("5 samples") }));
        }
    }

    void classesAreToldApartByTheirPipelines()
    {
        const test::SampleShape two { .datacenters = 1, .stages = 1, .microBatches = 2, .classes = 2, .pipelines = 4 };
        QCOMPARE(labels(layOutTracks(*test::sampleEvaluation(two), {})),
            (QStringList { "stage 1 · pipelines 1–4", "stage 1 · pipelines 5–8" }));
    }

    void aFoldedDatacenterIsOneRow()
    {
        const TrackLayout layout = layOutTracks(*test::sampleEvaluation(m_shape), folding("dc0"));
        QCOMPARE(layout.groups.size(), std::size_t(2));
        QVERIFY(layout.groups[0].isFolded);
        QCOMPARE(layout.rows[0].kind, TrackRow::Kind::Summary);
        QCOMPARE(layout.rows[0].label, QStringLiteral("2 stages"));
        QCOMPARE(layout.rows[0].tracks.size(), std::size_t(2));
        QCOMPARE(layout.rows[1].label, QStringLiteral("stage 3"));
    }

    void whatIsOffloadedHasRowsOfItsOwnWithoutUnfolding()
    {
        Evaluation evaluation = *test::sampleEvaluation({ .datacenters = 1, .stages = 2, .microBatches = 2 });
        Plan plan = *evaluation.plan;
        for (const ActivationOffload target : { ActivationOffload::Ssd, ActivationOffload::Host }) {
            plan.memory.activationOffload = target;
            Evaluation e = evaluation;
            e.plan = std::make_shared<const Plan>(plan);
            const std::uint32_t end = std::uint32_t(e.timeline.spanCount());
            for (const Stream stream : { Stream::Store, Stream::Load })
                e.timeline.tracks.push_back({ .stream = stream, .stage = 0, .first = end, .last = end });
            const QString place =
                target == ActivationOffload::Ssd ? QStringLiteral("drives") : QStringLiteral("host memory");
            QStringList names = labels(layOutTracks(e, {}));
            QCOMPARE(names.mid(1, 2), (QStringList { QStringLiteral("→ ") + place, QStringLiteral("← ") + place }));
            QVERIFY(names[0].startsWith("stage 1") && names[3].startsWith("stage 2"));
        }
    }

    void rowsDoNotOverlapAndFillTheHeight()
    {
        const TrackLayout layout = layOutTracks(*test::sampleEvaluation({ .stages = 12 }), ofHeight(300));
        for (std::size_t r = 1; r < layout.rows.size(); ++r)
            QVERIFY(layout.rows[r].y >= layout.rows[r - 1].y + layout.rows[r - 1].pitch);
        QVERIFY(layout.contentHeight <= 300);
        const TrackLayout tall = layOutTracks(*test::sampleEvaluation({ .stages = 12 }), ofHeight(900));
        QVERIFY(tall.rows.front().barHeight > layout.rows.front().barHeight);
    }

    void aPinnedRowStaysOnTopWhileTheRestScrolls()
    {
        const auto evaluation = test::sampleEvaluation(m_shape);
        const QString key = layOutTracks(*evaluation, {}).rows[4].key;
        const TrackLayout layout = layOutTracks(*evaluation, pinning(key));
        QCOMPARE(layout.pinnedCount, 1);
        QCOMPARE(layout.rows[0].label, QStringLiteral("stage 4"));
        QCOMPARE(rowTop(layout, layout.rows[0], 50), rowTop(layout, layout.rows[0], 0));
        QCOMPARE(rowTop(layout, layout.rows[1], 50), rowTop(layout, layout.rows[1], 0) - 50);
        QCOMPARE(rowAt(layout, 1, 50), 0);
    }

    void everyPixelOfARowBelongsToIt()
    {
        const TrackLayout layout = layOutTracks(*test::sampleEvaluation(m_shape), {});
        for (std::size_t r = 0; r < layout.rows.size(); ++r) {
            QCOMPARE(rowAt(layout, layout.rows[r].y, 0), int(r));
            QCOMPARE(rowAt(layout, layout.rows[r].y + layout.rows[r].pitch - 1, 0), int(r));
        }
        QCOMPARE(rowAt(layout, layout.contentHeight, 0), -1);
    }

    void keysOutliveANewEvaluation()
    {
        const TrackLayout before = layOutTracks(*test::sampleEvaluation(m_shape), {});
        test::SampleShape longer = m_shape;
        longer.microBatches = 9;
        const TrackLayout after = layOutTracks(*test::sampleEvaluation(longer), {});
        for (std::size_t r = 0; r < before.rows.size(); ++r)
            QCOMPARE(after.rows[r].key, before.rows[r].key);
    }

    void theBaselineFindsItsTrackByStage()
    {
        const auto a = test::sampleEvaluation(m_shape), b = test::sampleEvaluation({ .datacenters = 1, .stages = 3 });
        QCOMPARE(sameTrack(b->timeline, a->timeline.tracks[2]), 2);
        QCOMPARE(sameTrack(b->timeline, a->timeline.tracks[3]), -1);
    }

    void anUnnamedLayoutStillLaysOut()
    {
        Evaluation bare;
        bare.timeline = test::sampleEvaluation(m_shape)->timeline;
        const TrackLayout layout = layOutTracks(bare, {});
        QCOMPARE(layout.rows.size(), bare.timeline.tracks.size());
        QCOMPARE(layout.groups[0].name, QStringLiteral("datacenter 1"));
    }
};

TRAINYARD_APPLESS_TEST(TrackLayoutTest)
#include "tst_track_layout.moc"
