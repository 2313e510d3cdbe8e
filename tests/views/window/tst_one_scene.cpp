// SPDX-License-Identifier: GPL-3.0-or-later
// One scene: whatever is shown, own, tried or only hovered, the map, the numbers, the strategies, the memory and the
// parts of Why are of the same plan. What each panel shows is held against a fresh one that was told nothing else.
#include "tests/support/test_program.h"
#include "window_fixture.h"

#include "tests/support/told.h"
#include "views/panels/datacenter_panel.h"
#include "views/panels/datacenter_row.h"
#include "views/panels/effect_combo.h"
#include "views/panels/hover_button.h"
#include "views/panels/memory_details.h"
#include "views/panels/memory_parts.h"
#include "views/panels/strategy_panel.h"
#include "views/panels/strategy_row.h"
#include "views/panels/why_panel.h"
#include "views/theme/switch_button.h"
#include "views/timeline/timeline_view.h"

#include <algorithm>

using namespace trainyard;

namespace {

QStringList textOf(const MapScene &scene)
{
    QStringList text { scene.summary };
    for (const IslandScene &island : scene.islands) {
        text << island.title + u'|' + island.subtitle + u'|' + island.idleText + u'|' + QString::number(island.idle);
        for (const PoolScene &pool : island.pools)
            for (const int stage : pool.stageOfGpu)
                text.back() += u',' + QString::number(stage);
    }
    for (const LinkScene &link : scene.links)
        text << link.name + u'|' + link.head + u'|' + link.foot + u'|' + QString::number(link.utilization);
    return text;
}

/// "schedule: 1F1B": the values that controls show, without what they would do.
QStringList valuesOf(const StrategyPanel &panel)
{
    QStringList values;
    for (const StrategyRow *row : panel.findChildren<StrategyRow *>())
        values << row->group() + QStringLiteral(": ")
                + (row->list()                       ? row->list()->currentText()
                        : row->toggle()->isChecked() ? "on"
                                                     : "off");
    return values;
}

QString figuresOf(const NumberStrip &strip)
{
    QStringList lines = strip.toTsv().split(u'\n');
    for (QString &line : lines)
        line = line.section(u'\t', 0, 1); // differences are to another plan
    return lines.join(u'\n');
}

QString partsOf(const WhyPanel &why)
{
    return why.toTsv().section(QStringLiteral("better part"), 0, 0);
}

void hover(QWidget *button, bool comes)
{
    QEnterEvent enter(QPointF(2, 2), QPointF(2, 2), QPointF(2, 2));
    QEvent leave(QEvent::Leave);
    QApplication::sendEvent(button, comes ? &enter : &leave);
}

struct SceneWindow : WindowFixture {
    Workbench &bench = window.workbench();

    /// All panels but `previewing`, whose content must not move under the pointer, against fresh ones.
    void expectOneScene(const QWidget *previewing = nullptr)
    {
        settle();
        const EvaluationPtr evaluation = bridge.evaluation();
        QCOMPARE(evaluation->plan, document.shownPlan());
        QCOMPARE(textOf(map()->shownScene()), textOf(buildScene(*evaluation->plan, evaluation.get())));
        NumberStrip strip;
        strip.setEvaluation(evaluation);
        QCOMPARE(figuresOf(*bench.strip), figuresOf(strip));
        QCOMPARE(bench.timeline->state().evaluation, evaluation);
        const Shown told = shownOf(evaluation);
        if (previewing != bench.strategies) {
            StrategyPanel strategies(builtinCatalogue());
            strategies.setShown(told);
            QCOMPARE(valuesOf(*bench.strategies), valuesOf(strategies));
        }
        if (previewing != bench.why) {
            WhyPanel why;
            why.setShown(told);
            QCOMPARE(partsOf(*bench.why), partsOf(why));
        }
        MemoryDetails memory;
        memory.setShown(told);
        QCOMPARE(bench.memory->findChild<MemoryParts *>()->toTsv(), memory.findChild<MemoryParts *>()->toTsv());
    }
};

} // namespace

class OneSceneTest : public QObject {
    Q_OBJECT
private slots:
    void aHoveredValueIsShownByAllOthers()
    {
        SceneWindow f;
        f.expectOneScene();
        const QStringList own = textOf(f.map()->shownScene());
        const StrategyRow *row = f.bench.strategies->row("data");
        int tried = 0;
        for (std::size_t i = 0; i < row->alternatives().size(); ++i) {
            if (row->alternatives()[i].isCurrent || !row->alternatives()[i].plan)
                continue;
            emit row->list()->highlighted(int(i));
            QVERIFY(f.document.isPreviewing());
            if (!test::until([&] { return !f.bridge.isStale(); })
                || f.bridge.evaluation()->plan != f.document.shownPlan())
                continue; // it cannot run
            f.expectOneScene(f.bench.strategies);
            tried += textOf(f.map()->shownScene()) != own;
        }
        QVERIFY(tried > 0); // fewer replicas leave GPUs idle, and the map says so
        emit row->list()->popupHidden();
        f.expectOneScene();
        QCOMPARE(textOf(f.map()->shownScene()), own);
    }

    void aHoveredDatacenterOptionIsShownByAll()
    {
        SceneWindow f;
        f.bench.reveal(f.bench.datacenters);
        DatacenterRow *row = nullptr;
        QTRY_VERIFY_WITH_TIMEOUT(
            [&] {
                for (DatacenterRow *one : f.bench.datacenters->findChildren<DatacenterRow *>())
                    if (one->applyButton()->isVisible() && one->applyButton()->isEnabled())
                        row = one;
                return row != nullptr;
            }(),
            30000);
        const QStringList values = valuesOf(*f.bench.strategies);
        hover(row->applyButton(), true);
        QVERIFY(f.document.isPreviewing());
        f.expectOneScene(f.bench.datacenters);
        hover(row->applyButton(), false);
        f.expectOneScene();
        QCOMPARE(valuesOf(*f.bench.strategies), values);
    }

    void gpusInTheAirAreShownByAll()
    {
        SceneWindow f;
        const QPoint from = f.nodeAt(0, 23), to = f.titleOf(2);
        QTest::mousePress(f.map(), Qt::LeftButton, Qt::NoModifier, from);
        for (int step = 1; step <= 8; ++step)
            f.moveHeld(from + (to - from) * step / 8);
        QTRY_VERIFY(f.document.isPreviewing());
        f.expectOneScene(f.map());
        QTest::keyClick(f.map(), Qt::Key_Escape);
        QTest::mouseRelease(f.map(), Qt::LeftButton, Qt::NoModifier, to);
        f.expectOneScene();
    }

    void aTriedPlanIsWhatEverythingShowsAndEditsStartFrom()
    {
        SceneWindow f;
        const PlanPtr own = f.document.plan();
        Plan other = *own;
        other.parallelism.data = 1; // leaves most GPUs idle
        other.schedule = ScheduleKind::GPipe;
        const auto tried = std::make_shared<const Plan>(other);
        EffectTablePtr effects;
        connect(
            &f.effects, &StrategyEffects::effectsChanged, this, [&](const EffectTablePtr &table) { effects = table; });
        f.document.tryPlan(tried, QStringLiteral("another"));
        f.expectOneScene();
        QVERIFY(f.map()->scene().summary != QString() && f.bridge.evaluation()->metrics.gpusUsed < own->cluster.gpus());
        QTRY_VERIFY_WITH_TIMEOUT(effects && effects->plan == tried, 60000); // effects are of it, too
        // A hover above it, and back to it.
        const StrategyRow *row = f.bench.strategies->row("schedule");
        const int free = [&] {
            for (int i = 0; i < int(row->alternatives().size()); ++i)
                if (!row->alternatives()[std::size_t(i)].isCurrent && row->alternatives()[std::size_t(i)].plan)
                    return i;
            return -1;
        }();
        QVERIFY(free >= 0);
        emit row->list()->highlighted(free);
        f.expectOneScene(f.bench.strategies);
        emit row->list()->popupHidden();
        f.expectOneScene();
        QCOMPARE(f.document.shownPlan(), tried);
        // An edit adopts it first: two steps to undo.
        const Alternative chosen = row->alternatives()[std::size_t(free)];
        emit row->list()->activated(free);
        f.expectOneScene();
        QVERIFY(*f.document.plan() == *chosen.plan && !f.document.trial());
        QCOMPARE(f.document.undoStack().count(), 2);
        f.document.undoStack().undo();
        QVERIFY(*f.document.plan() == *tried);
        f.document.undoStack().undo();
        f.expectOneScene();
        QVERIFY(*f.document.plan() == *own);
        f.effects.disconnect(this);
    }
};

TRAINYARD_TEST(OneSceneTest)
#include "tst_one_scene.moc"
