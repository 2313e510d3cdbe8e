// SPDX-License-Identifier: GPL-3.0-or-later
// One key, a name, Enter: the window shows the thing of that name, whatever it is. With real keys from the search field
// to where they lead.
#include "tests/support/test_program.h"
#include "window_fixture.h"

#include "models/edit_history.h"
#include "models/session/session_document.h"
#include "tests/support/plans.h"
#include "views/commands/command_palette.h"
#include "views/details/details_panel.h"
#include "views/panels/effect_combo.h"
#include "views/panels/pin_button.h"
#include "views/panels/strategy_panel.h"
#include "views/panels/strategy_row.h"
#include "views/panels/workload_editor.h"
#include "views/session/board_page.h"
#include "views/timeline/timeline_view.h"
#include "views/window/session_actions.h"

#include <QAbstractItemView>
#include <QComboBox>
#include <QElapsedTimer>
#include <QLineEdit>
#include <QListWidget>
#include <QSpinBox>

#include <array>

using namespace trainyard;

namespace {

struct Going : WindowFixture {
    using WindowFixture::WindowFixture;
    CommandPalette &palette() { return window.palettePopup(); }
    QLineEdit *field() { return palette().findChild<QLineEdit *>(); }
    QListWidget *list() { return palette().findChild<QListWidget *>(); }
    [[nodiscard]] QString group(int row) { return list()->item(row)->data(Qt::UserRole + 2).toString(); }

    void openPalette()
    {
        QApplication::setActiveWindow(&window);
        QTest::keyClick(
            window.focusWidget() ? window.focusWidget() : &window, Qt::Key_P, Qt::ControlModifier | Qt::ShiftModifier);
        QVERIFY(palette().isVisible());
        QVERIFY(field()->hasFocus());
    }
    /// The key, the name, Enter.
    void goTo(const QString &name)
    {
        openPalette();
        QTest::keyClicks(field(), name);
        QTest::keyClick(field(), Qt::Key_Return);
        QApplication::processEvents();
        QVERIFY(!palette().isVisible());
    }
    [[nodiscard]] MapItem selected() { return map()->selection().empty() ? MapItem() : map()->selection().front(); }
    DetailsPanel &details() { return *window.workbench().details; }
};

PlanPtr thousandInARow()
{
    static constexpr std::array kGpus { "a100-sxm-80gb", "h100-sxm-80gb", "v100-sxm-32gb", "a100-sxm-40gb" };
    Plan plan = test::oneSite(1, 8);
    plan.cluster.datacenters.clear();
    for (std::size_t d = 0; d < 1000; ++d) {
        plan.cluster.datacenters.push_back(test::site("dc" + std::to_string(d), 1 + int(d % 3), kGpus[d % 4]));
        if (d > 0)
            plan.cluster.wanLinks.push_back(
                test::wanLink("dc" + std::to_string(d - 1), "dc" + std::to_string(d), double(20 + d % 30)));
    }
    return std::make_shared<const Plan>(std::move(plan));
}

} // namespace

class GoToTest : public QObject {
    Q_OBJECT
private slots:
    void aDatacenterIsSelectedOnTheMapAndDetailsTellOfIt()
    {
        Going f;
        f.goTo("oregon");
        QCOMPARE(f.selected().kind, MapItem::Kind::Island);
        const auto &one = f.document.plan()->cluster.datacenters[std::size_t(f.selected().island)];
        QCOMPARE(QString::fromStdString(one.label()), QStringLiteral("Oregon"));
        QVERIFY(f.map()->hasFocus());
        QVERIFY(f.details().isVisible());
        QCOMPARE(f.details().title(), QStringLiteral("Oregon"));
    }
    void aLinkIsFoundByItsEndsInEitherOrder()
    {
        Going f;
        for (const char *typed : { "oregon - virginia", "virginia oregon" }) {
            f.map()->clearSelection();
            f.goTo(QLatin1String(typed));
            QCOMPARE(f.selected().kind, MapItem::Kind::Link);
            auto ends = f.document.plan()->cluster.wanLinks[std::size_t(f.selected().link)].between;
            std::ranges::sort(ends);
            QCOMPARE(ends, (std::array<std::string, 2> { "oregon", "virginia" }));
            QVERIFY(f.details().title().contains(QStringLiteral("Virginia")));
        }
    }
    void aStageScrollsTheTimelineAndIsToldByDetails()
    {
        Going f;
        f.window.showValidation(); // from another page
        const int stages = f.document.plan()->parallelism.pipeline;
        f.goTo(QStringLiteral("stage %1").arg(stages));
        QVERIFY(f.window.isWorkbenchShown());
        QCOMPARE(f.details().title(), QStringLiteral("Stage %1").arg(stages));
        TimelineView *timeline = f.window.workbench().timeline;
        auto *mark = timeline->canvas()->findChild<QWidget *>(QStringLiteral("rowMark"));
        QVERIFY(mark && mark->isVisible());
        QVERIFY(timeline->canvas()->rect().contains(mark->geometry().center()));
        // The row that is marked is that of the stage.
        const TrackLayout &layout = timeline->state().layout;
        const auto row = std::ranges::find_if(layout.rows,
            [&](const TrackRow &one) { return one.kind == TrackRow::Kind::Stage && one.stage == stages - 1; });
        QVERIFY(row != layout.rows.end());
        QVERIFY(mark->height() >= row->pitch && mark->height() < row->pitch + 10);
    }
    void aStageOfAFoldedDatacenterIsUnfolded()
    {
        Going f;
        TimelineView *timeline = f.window.workbench().timeline;
        const int stages = f.document.plan()->parallelism.pipeline;
        const auto hasRow = [&] {
            return std::ranges::any_of(timeline->state().layout.rows,
                [&](const TrackRow &one) { return one.kind == TrackRow::Kind::Stage && one.stage == stages - 1; });
        };
        QByteArray folded;
        {
            QSet<QString> all;
            for (const RowGroup &group : timeline->state().layout.groups)
                all.insert(group.key);
            QDataStream out(&folded, QIODevice::WriteOnly);
            out << QSet<QString>() << all;
        }
        timeline->restoreRows(folded);
        QVERIFY(!hasRow());
        f.goTo(QStringLiteral("stage %1").arg(stages));
        QVERIFY(hasRow());
    }
    void aRankIsShownOnTheMapAndInTheTimeline()
    {
        Going f;
        f.goTo("rank 3");
        QCOMPARE(f.selected().kind, MapItem::Kind::Gpus);
        QCOMPARE(f.selected().gpus, 1);
        QVERIFY2(f.details().title().startsWith(QStringLiteral("GPU ")), qPrintable(f.details().title()));
        QVERIFY(f.window.workbench().timeline->canvas()->findChild<QWidget *>(QStringLiteral("rowMark")));
    }
    void aNodeIsSelected()
    {
        Going f;
        f.goTo("node 2 virginia");
        QCOMPARE(f.selected().kind, MapItem::Kind::Gpus);
        QCOMPARE(f.selected().firstGpu, f.selected().gpus);
        QCOMPARE(f.details().title(), QStringLiteral("Node 2"));
    }
    void aKeyOpensStrategiesAtItsControl()
    {
        Going f;
        f.window.workbench().reveal(f.window.workbench().workload);
        f.goTo("parallelism.tensor");
        QVERIFY(f.window.workbench().strategies->isVisible());
        const EffectCombo *control = f.window.workbench().strategies->row("tensor")->list();
        QVERIFY(control->hasFocus() || control->isAncestorOf(QApplication::focusWidget()));
        QVERIFY(!control->visibleRegion().isEmpty());
        QCOMPARE(f.window.workbench().strategies->focusedKey(), std::string("parallelism.tensor"));
    }
    /// Whatever key is listed leads to a control in sight that has the keyboard.
    void everyKeyThatIsListedCanBeGoneTo()
    {
        Going f;
        QApplication::setActiveWindow(&f.window);
        StrategyPanel &panel = *f.window.workbench().strategies;
        const std::vector<std::string> keys = panel.keys();
        QVERIFY(keys.size() > 20);
        f.window.workbench().reveal(&panel);
        for (const std::string &key : keys) {
            QVERIFY2(panel.goToKey(key), key.c_str());
            const QWidget *row = panel.pin(key)->parentWidget();
            QVERIFY2(!row->visibleRegion().isEmpty(), key.c_str());
            const auto controls = row->findChildren<QWidget *>(QString(), Qt::FindDirectChildrenOnly);
            const bool canBeUsed = std::ranges::any_of(controls, [](const QWidget *one) {
                return one->isEnabled() && one->isVisible()
                    && (one->inherits("QComboBox") || one->inherits("QAbstractSpinBox")
                        || one->inherits("QAbstractButton"))
                    && !qobject_cast<const PinButton *>(one);
            });
            QVERIFY2(panel.focusedKey() == key || !canBeUsed, key.c_str());
        }
        QVERIFY(!panel.goToKey("no.such.key"));
    }
    void aFieldOfTheWorkloadIsGoneToAndAModelIsOffered()
    {
        Going f;
        f.goTo("global batch");
        QVERIFY(f.window.workbench().workload->isVisible());
        QVERIFY(qobject_cast<QSpinBox *>(QApplication::focusWidget()));
        const PlanPtr before = f.document.plan();
        f.goTo("mixtral 8x7b");
        auto *models = f.window.workbench().workload->findChild<QComboBox *>();
        QVERIFY(models->view()->isVisible());
        QCOMPARE(models->view()->currentIndex().data(Qt::UserRole).toString(), QStringLiteral("mixtral-8x7b"));
        QCOMPARE(f.document.plan(), before); // until Enter
        QTest::keyClick(models->view(), Qt::Key_Return);
        QCOMPARE(f.document.plan()->workload.model, std::string("mixtral-8x7b"));
    }
    void variantsDecisionsAndEditsOfAMeetingAreGoneTo()
    {
        Going f;
        SessionDocument &session = f.window.session();
        session.branch();
        session.rename(session.current(), "Cheaper one");
        session.decide("Oregon, because power costs less");
        Plan next = *f.document.plan();
        next.workload.globalBatch *= 2;
        f.document.apply(std::make_shared<const Plan>(next), "Twice the batch");
        next.workload.microBatch *= 2;
        f.document.apply(std::make_shared<const Plan>(next), "Larger pieces");
        f.settle();
        const std::string cheaper = session.current();
        f.goTo("edit twice");
        QCOMPARE(f.document.undoStack().index(), 1);
        session.show(session.variants().front().id);
        f.goTo("cheaper");
        QCOMPARE(session.current(), cheaper);
        f.goTo("decision power");
        BoardPage &board = f.window.sessionActions().board();
        QVERIFY(board.isVisible());
        QCOMPARE(board.decisions->currentRow(), 0);
        QVERIFY(board.decisions->hasFocus());
    }
    void aSampleIsOpened()
    {
        Going f;
        f.answers.unsaved = Prompts::Unsaved::Discard;
        f.goTo("sample gpt-3 175b");
        QVERIFY(test::until([&] { return f.document.plan()->workload.model == "gpt-3-175b"; }));
    }
    void groupsAndValuesStandBesideNames()
    {
        Going f;
        f.openPalette();
        QTest::keyClicks(f.field(), "tensor");
        QCOMPARE(f.group(0), QStringLiteral("Key"));
        const QString value = f.list()->item(0)->data(Qt::UserRole + 1).toString();
        QCOMPARE(value, QString::number(f.document.plan()->parallelism.tensor));
        f.field()->clear();
        QTest::keyClicks(f.field(), "oregon");
        QCOMPARE(f.group(0), QStringLiteral("Datacenter"));
    }
    void escGivesTheKeyboardBack()
    {
        Going f;
        f.window.workbench().timeline->setFocus();
        const QWidget *before = QApplication::focusWidget();
        f.openPalette();
        QTest::keyClicks(f.field(), "rank");
        QTest::keyClick(f.field(), Qt::Key_Down);
        QCOMPARE(f.list()->currentRow(), 1);
        QTest::keyClick(f.field(), Qt::Key_Escape);
        QCOMPARE(QApplication::focusWidget(), before);
    }
    void whatAnEditTookAwayIsSaidToBeGone()
    {
        Going f;
        f.openPalette();
        QTest::keyClicks(f.field(), "node 24 virginia");
        QCOMPARE(f.list()->item(0)->text(), QStringLiteral("Node 24"));
        Plan next = *f.document.plan();
        next.cluster.datacenters[std::size_t(next.cluster.indexOf("virginia"))].pools[0].nodes = 2;
        f.document.apply(std::make_shared<const Plan>(next), "Fewer");
        QTest::keyClick(f.field(), Qt::Key_Return);
        QVERIFY(f.window.messages().text("goTo").contains(QStringLiteral("Node 24")));
    }
    /// Opening costs no more than it did with commands alone; the names come with the first letter.
    void aThousandDatacentersKeepItFast()
    {
        Going f;
        f.document.startNew(thousandInARow());
        QVERIFY(test::until([&] { return f.bridge.evaluation() && f.bridge.evaluation()->plan == f.document.plan(); }));
        QElapsedTimer clock;
        clock.start();
        f.openPalette();
        const double opened = double(clock.nsecsElapsed()) * 1e-6;
        clock.restart();
        QTest::keyClick(f.field(), Qt::Key_D);
        const double first = double(clock.nsecsElapsed()) * 1e-6;
        clock.restart();
        QTest::keyClick(f.field(), Qt::Key_C);
        const double second = double(clock.nsecsElapsed()) * 1e-6;
        qInfo("1,000 datacenters: open %.1f ms, first letter %.1f ms, second %.1f ms", opened, first, second);
        QVERIFY2(first < 1000 && second < 500, "a letter is not shown in a blink");
        QTest::keyClicks(f.field(), "777");
        QTest::keyClick(f.field(), Qt::Key_Return);
        QCOMPARE(f.document.plan()->cluster.datacenters[std::size_t(f.selected().island)].id, std::string("dc777"));
        QVERIFY(f.map()->rect().intersects(
            f.map()->mapLayout().islands[std::size_t(f.selected().island)].frame.toAlignedRect()));
    }
};

TRAINYARD_TEST(GoToTest)
#include "tst_go_to.moc"
