// SPDX-License-Identifier: GPL-3.0-or-later
// The chart of a cell that takes turns on a WAN channel, with prefill in the gap of a stage.
#include "tests/support/test_program.h"
#include "tests/support/turns_timeline.h"
#include "views/theme/theme.h"
#include "views/theme/turn_colors.h"
#include "views/timeline/chart_canvas.h"
#include "views/timeline/legend.h"
#include "views/timeline/span_card.h"
#include "views/timeline/span_text.h"
#include "views/timeline/timeline_view.h"

#include <QApplication>
#include <QMouseEvent>
#include <QTest>

using namespace trainyard;

class TurnsAndPrefillTest : public QObject {
    Q_OBJECT
    EvaluationPtr m_evaluation = std::make_shared<const Evaluation>(test::turnsEvaluation());
    static constexpr int kWan = 4, kPrefill = 5;

    std::unique_ptr<TimelineView> view() const
    {
        auto made = std::make_unique<TimelineView>();
        made->resize(900, 260);
        made->setEvaluation(m_evaluation);
        made->show();
        QApplication::processEvents();
        return made;
    }

    /// Colour at a time, two pixels into the bar of a track's row, where neither dots nor labels are.
    static QColor colorAt(TimelineView &view, int track, Nanoseconds time)
    {
        const TimelineState &state = view.state();
        const TrackRow &row = state.layout.rows[std::size_t(state.layout.rowOfTrack[std::size_t(track)])];
        const QRect tracks = QRect(view.trackArea()).translated(-view.canvas()->mapTo(&view, QPoint()));
        const double x = timeToX(time, state.range, tracks.left(), tracks.width());
        const QImage image = view.canvas()->grab().toImage();
        return image.pixelColor(int(x), tracks.top() + rowTop(state.layout, row, state.scroll) + row.barTop + 2);
    }

private slots:
    void initTestCase() { applyTheme(*qApp, ThemeKind::Dark); }

    void theSharedChannelSaysHowManyTakeTurns()
    {
        const TrackLayout layout = layOutTracks(*m_evaluation, {});
        const TrackRow &row = layout.rows[std::size_t(layout.rowOfTrack[kWan])];
        QVERIFY(row.hasTurns);
        QCOMPARE(row.label, QStringLiteral("→ Ohio, 2 in turn"));
        QVERIFY(row.barHeight >= 9); // room for the number of the micro-batch
        for (std::size_t r = 1; r < layout.rows.size(); ++r)
            QVERIFY(layout.rows[r].y >= layout.rows[r - 1].y + layout.rows[r - 1].pitch);
    }

    void aStageSaysWhichPipelineOfItsCellItServes()
    {
        TrackLayout layout = layOutTracks(*m_evaluation, {});
        QCOMPARE(layout.rows[std::size_t(layout.rowOfTrack[1])].detail, QStringLiteral("pipeline 2 of 2"));
        Evaluation many = *m_evaluation;
        many.layout.classes[1].pipelines = 8;
        layout = layOutTracks(many, {});
        QCOMPARE(layout.rows[std::size_t(layout.rowOfTrack[1])].detail, QStringLiteral("pipeline 2 of 2 · 8 cells"));
    }

    void eachPipelinesTurnHasItsShade()
    {
        const auto v = view();
        const QColor base = theme().work(WorkKind::WanTransfer);
        // A0 [10, 20), B0 [20, 30), A1, B1
        const QColor a0 = colorAt(*v, kWan, 12), b0 = colorAt(*v, kWan, 22), a1 = colorAt(*v, kWan, 32),
                     b1 = colorAt(*v, kWan, 42);
        QCOMPARE(a0, turnShade(base, 0));
        QCOMPARE(b0, turnShade(base, 1));
        QCOMPARE(a1, a0);
        QCOMPARE(b1, b0);
        QVERIFY(a0 != b0);
    }

    void neighbouringShadesDifferInGrey()
    {
        for (const ThemeKind kind : { ThemeKind::Light, ThemeKind::Dark }) {
            applyTheme(*qApp, kind);
            for (int lane = 0; lane + 1 < kTurnShades; ++lane) {
                const QColor base = theme().work(WorkKind::WanTransfer);
                QVERIFY(std::abs(qGray(turnShade(base, lane).rgb()) - qGray(turnShade(base, lane + 1).rgb())) >= 20);
            }
        }
        applyTheme(*qApp, ThemeKind::Dark);
    }

    void prefillLiesInTheGapOfItsStage()
    {
        const auto v = view();
        const TrackLayout &layout = v->state().layout;
        QCOMPARE(layout.rowOfTrack[kPrefill], layout.rowOfTrack[2]); // lane 0, stage 1
        QCOMPARE(colorAt(*v, 2, 60), theme().work(WorkKind::Prefill));
        QCOMPARE(colorAt(*v, 2, 45), theme().work(WorkKind::Forward));
        QCOMPARE(colorAt(*v, 2, 75), theme().idle);
    }

    void theLegendNamesPrefill()
    {
        const auto v = view();
        bool named = false;
        for (const KindButton *button : v->findChildren<KindButton *>())
            named = named || (button->kind() == WorkKind::Prefill && button->isVisible());
        QVERIFY(named);
    }

    void hoveringTellsWhoseTurnItIsAndWhatIsServed()
    {
        const Timeline &timeline = m_evaluation->timeline;
        const std::uint32_t second = timeline.tracks[kWan].first + 1;
        QCOMPARE(spanTitle(*m_evaluation, second),
            QStringLiteral("WAN transfer · micro-batch 1 · Virginia → Ohio · stage 1 → 2 · turn of pipeline 2 of 2"));
        const std::uint32_t prefill = timeline.tracks[kPrefill].first;
        QCOMPARE(spanTitle(*m_evaluation, prefill), QStringLiteral("Prefill · stage 2"));
        const QStringList facts = spanFacts(*m_evaluation, prefill, false);
        QCOMPARE(facts.size(), 2);
        QVERIFY(facts[1].contains("llama-3-8b"));
        const auto v = view();
        const TimelineState &state = v->state();
        const QRect tracks = QRect(v->trackArea()).translated(-v->canvas()->mapTo(v.get(), QPoint()));
        const TrackRow &row = state.layout.rows[std::size_t(state.layout.rowOfTrack[kPrefill])];
        const QPoint at(int(timeToX(60, state.range, tracks.left(), tracks.width())),
            tracks.top() + rowTop(state.layout, row, 0) + row.barHeight / 2);
        QTest::mouseMove(v->canvas(), at);
        QTRY_COMPARE(v->state().hovered, prefill);
    }

    void prefillOfSeveralPipelinesSaysWhoseItShows()
    {
        Evaluation e = *m_evaluation;
        e.layout.classes[0].pipelines = 4;
        const QStringList facts = spanFacts(e, e.timeline.tracks[kPrefill].first, false);
        QVERIFY(facts.last().contains("first of 4"));
    }
};

TRAINYARD_TEST(TurnsAndPrefillTest)
#include "tst_turns_and_prefill.moc"
