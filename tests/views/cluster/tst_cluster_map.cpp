// SPDX-License-Identifier: GPL-3.0-or-later
// The map under real mouse and key events: drags by mouse and by keyboard give the same plans, previews come once per
// change, Esc puts everything back, and no GPU is ever lost.
#include "tests/support/test_program.h"
#include "tests/support/told.h"
#include "tests/views/cluster/map_hand.h"
#include "views/cluster/amount_popup.h"
#include "views/cluster/editors/datacenter_editor.h"
#include "views/cluster/editors/link_editor.h"

#include <QDialogButtonBox>
#include <QDoubleSpinBox>
#include <QImage>
#include <QLineEdit>
#include <QMouseEvent>
#include <QPushButton>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTest>

using namespace trainyard;
using namespace trainyard::testing;

class ClusterMapTest : public QObject {
    Q_OBJECT

private slots:
    void draggingANodeToAnotherIslandPreviewsThenCommits()
    {
        Hand hand(threeRegions());
        hand.press(hand.node(Oregon, 3));
        hand.moveTo(hand.on(Iowa));
        QCOMPARE(hand.previews.size(), std::size_t(1));
        QCOMPARE(Hand::gpusOf(hand.previews[0]), (std::vector { 184, 200, 192 }));
        QCOMPARE(hand.words, QStringLiteral("Move 8 GPUs Oregon → Iowa"));
        QVERIFY(hand.commits.empty());
        hand.release();
        QCOMPARE(hand.commits.size(), std::size_t(1));
        QCOMPARE(*hand.commits[0], *hand.previews[0]);
        QCOMPARE(hand.cancels, 0);
        QVERIFY(!hand.map.isDragging());
    }

    void aCandidateIsAnnouncedOnceHoweverTheMouseMoves()
    {
        Hand hand(threeRegions());
        hand.press(hand.node(Oregon, 0));
        for (int i = 0; i < 5; ++i)
            hand.moveTo(hand.on(Iowa) + QPoint(i * 3, 0));
        QCOMPARE(hand.previews.size(), std::size_t(1));
        hand.moveTo(hand.sea());
        QCOMPARE(hand.cancels, 1);
        hand.moveTo(hand.on(Virginia));
        QCOMPARE(hand.previews.size(), std::size_t(2));
    }

    void escapePutsBack()
    {
        Hand hand(threeRegions());
        hand.press(hand.node(Oregon, 3));
        hand.moveTo(hand.on(Iowa));
        hand.key(Qt::Key_Escape);
        QCOMPARE(hand.cancels, 1);
        QVERIFY(!hand.map.isDragging());
        hand.release();
        QVERIFY(hand.commits.empty());
    }

    void droppingAtHomeOrInTheSeaDoesNothing()
    {
        Hand hand(threeRegions());
        hand.press(hand.node(Oregon, 3));
        hand.moveTo(hand.on(Oregon));
        hand.release();
        hand.press(hand.node(Oregon, 3));
        hand.moveTo(hand.sea());
        hand.release();
        QVERIFY(hand.previews.empty());
        QVERIFY(hand.commits.empty());
        QCOMPARE(hand.cancels, 0);
    }

    void aPressTakesTheTensorGroupsNodeAndShiftOneGpuAndControlThePool()
    {
        Hand hand(threeRegions());
        hand.press(hand.gpu(Oregon, 9));
        hand.moveTo(hand.on(Virginia));
        QCOMPARE(Hand::gpusOf(hand.previews.back()), (std::vector { 184, 192, 200 }));
        hand.key(Qt::Key_Escape);
        hand.press(hand.gpu(Oregon, 9), Qt::ShiftModifier);
        hand.moveTo(hand.on(Virginia));
        QCOMPARE(Hand::gpusOf(hand.previews.back()), (std::vector { 191, 192, 193 }));
        hand.key(Qt::Key_Escape);
        hand.press(hand.gpu(Oregon, 9), Qt::ControlModifier);
        hand.moveTo(hand.on(Virginia));
        QCOMPARE(Hand::gpusOf(hand.previews.back()), (std::vector { 0, 192, 384 }));
    }

    void withoutTensorGroupsAPressTakesOneGpuAndShiftTheNode()
    {
        Plan plan = threeRegions();
        plan.parallelism.tensor = 1;
        Hand hand(plan);
        hand.press(hand.gpu(Iowa, 9));
        hand.moveTo(hand.on(Oregon));
        QCOMPARE(Hand::gpusOf(hand.previews.back()), (std::vector { 193, 191, 192 }));
        hand.key(Qt::Key_Escape);
        hand.press(hand.gpu(Iowa, 9), Qt::ShiftModifier);
        hand.moveTo(hand.on(Oregon));
        QCOMPARE(Hand::gpusOf(hand.previews.back()), (std::vector { 200, 184, 192 }));
    }

    void theSubtitleIsThePoolsHandle()
    {
        Hand hand(threeRegions());
        hand.press(hand.map.mapLayout().islands[Oregon].groups[0].label.center().toPoint());
        hand.moveTo(hand.on(Iowa));
        hand.release();
        QCOMPARE(Hand::gpusOf(hand.commits.back()), (std::vector { 0, 384, 192 }));
    }

    void aRubberBandSelectsNodesThatThenMoveTogether()
    {
        Hand hand(threeRegions());
        const QSignalSpy selected(&hand.map, &ClusterMap::selectionChanged);
        const QRectF first = nodeRect(hand.map.mapLayout(), Oregon, 0, 0),
                     second = nodeRect(hand.map.mapLayout(), Oregon, 0, 1);
        const QPoint corner(int(hand.map.mapLayout().islands[Oregon].frame.left()) - 6, int(first.top()) - 1);
        hand.press(corner);
        hand.moveTo(QPointF(second.center().x(), first.center().y()).toPoint());
        hand.release();
        QVERIFY(!selected.isEmpty());
        QCOMPARE(hand.map.selection().size(), std::size_t(1));
        QCOMPARE(hand.map.selection()[0].gpus, 16);
        hand.press(hand.gpu(Oregon, 2));
        hand.moveTo(hand.on(Iowa));
        hand.release();
        QCOMPARE(Hand::gpusOf(hand.commits.back()), (std::vector { 176, 208, 192 }));
    }

    void theKeyboardDoesWhatTheMouseDoes()
    {
        Hand mouse(threeRegions()), keys(threeRegions());
        mouse.press(mouse.node(Oregon, 0));
        mouse.moveTo(mouse.on(Iowa));
        mouse.release();
        keys.map.setFocus();
        keys.key(Qt::Key_Tab, 2); // Oregon, its pool
        keys.key(Qt::Key_Down); // its first node
        keys.key(Qt::Key_Space);
        QVERIFY(keys.previews.empty()); // still at home
        keys.key(Qt::Key_Right);
        QCOMPARE(keys.previews.size(), std::size_t(1));
        keys.key(Qt::Key_Return);
        QCOMPARE(keys.commits.size(), std::size_t(1));
        QCOMPARE(*keys.commits[0], *mouse.commits[0]);
    }

    void plusAndMinusChangeHowManyAreCarried()
    {
        Hand hand(threeRegions());
        hand.map.setFocus();
        hand.key(Qt::Key_Tab); // Oregon
        hand.key(Qt::Key_Return);
        hand.key(Qt::Key_Right);
        hand.key(Qt::Key_Plus);
        QCOMPARE(Hand::gpusOf(hand.previews.back()), (std::vector { 176, 208, 192 }));
        hand.key(Qt::Key_Minus, 2); // 8, then 7: one GPU at a time inside a node
        QCOMPARE(Hand::gpusOf(hand.previews.back()), (std::vector { 185, 199, 192 }));
        hand.key(Qt::Key_Home);
        QCOMPARE(Hand::gpusOf(hand.previews.back()), (std::vector { 191, 193, 192 }));
        hand.key(Qt::Key_Escape);
        QCOMPARE(hand.cancels, 1);
        QVERIFY(hand.commits.empty());
        QVERIFY(!hand.map.accessibleDescription().isEmpty());
    }

    void tabPassesEveryIslandPoolAndLinkAndLeavesAtTheEnd()
    {
        Hand hand(threeRegions());
        hand.map.setFocus();
        QStringList spoken;
        for (int i = 0; i < 8; ++i) {
            hand.key(Qt::Key_Tab);
            spoken += hand.map.accessibleDescription();
        }
        QVERIFY(spoken.filter(QStringLiteral("pool of")).size() == 3);
        QVERIFY(spoken.filter(QStringLiteral("Link ")).size() == 2);
        QVERIFY(spoken.first().startsWith(QStringLiteral("Oregon")));
    }

    void theEvaluationOfThePreviewShowsInsideTheIslands()
    {
        Hand hand(threeRegions());
        hand.press(hand.node(Oregon, 3));
        hand.moveTo(hand.on(Iowa));
        QImage before(hand.map.size(), QImage::Format_ARGB32_Premultiplied), after = before;
        hand.map.render(&before);
        hand.map.setShown(test::previewed(dealt(hand.previews[0], 11.31), hand.plan));
        hand.map.render(&after);
        QVERIFY(before != after);
        QCOMPARE(hand.map.scene().islands[Oregon].gpus, 192); // the committed plan stays what it was
    }

    void aCommittedPlanIsTakenOverWithoutAnotherPreview()
    {
        Hand hand(threeRegions());
        QObject::connect(&hand.map, &ClusterMap::editCommitted, &hand.map,
            [&](const PlanPtr &next) { hand.map.setShown(shownOf(next)); });
        hand.press(hand.node(Oregon, 3));
        hand.moveTo(hand.on(Iowa));
        hand.map.setShown(test::previewed(dealt(hand.previews[0], 11.31), hand.plan));
        hand.release();
        QCOMPARE(hand.map.scene().islands[Iowa].gpus, 200);
        QVERIFY(hand.map.scene().islands[Iowa].subtitle.contains(QStringLiteral("stages 5–8")));
        QCOMPARE(hand.previews.size(), std::size_t(1));
        QCOMPARE(hand.cancels, 0);
    }

    void aCarryEndsWhenThePlanChangesUnderIt()
    {
        Hand hand(threeRegions());
        hand.map.setFocus();
        hand.key(Qt::Key_Tab); // Oregon
        hand.key(Qt::Key_Return);
        hand.key(Qt::Key_Right);
        QCOMPARE(hand.previews.size(), std::size_t(1));
        Plan other = *hand.plan; // the same cluster, another strategy
        other.parallelism.zeroStage = other.parallelism.zeroStage == 2 ? 1 : 2;
        hand.map.setShown(shownOf(std::make_shared<const Plan>(other)));
        QVERIFY(!hand.map.isDragging());
        QCOMPARE(hand.cancels, 1);
        hand.map.clearSelection();
        hand.key(Qt::Key_Escape);
        hand.key(Qt::Key_Return); // picks up again; drops nothing of the plan before
        QVERIFY(hand.commits.empty());
    }

    void theQuestionEndsWhenThePlanChangesUnderIt()
    {
        Hand hand(threeRegions(683));
        hand.press(nodeRect(hand.map.mapLayout(), Oregon, 0, 5).center().toPoint());
        hand.moveTo(hand.on(Iowa));
        hand.release();
        Plan other = *hand.plan;
        other.workload.globalBatch *= 2;
        hand.map.setShown(shownOf(std::make_shared<const Plan>(other)));
        QVERIFY(!hand.map.findChild<AmountPopup *>()->isVisible());
        QVERIFY(!hand.map.isDragging());
        QVERIFY(hand.commits.empty());
    }

    void aDragEndsWhenTheReleaseWentElsewhere()
    {
        Hand hand(threeRegions());
        hand.press(hand.node(Oregon, 3));
        hand.moveTo(hand.on(Iowa));
        const QPointF at = hand.on(Iowa) + QPoint(3, 0);
        QMouseEvent buttonless(
            QEvent::MouseMove, at, hand.map.mapToGlobal(at), Qt::NoButton, Qt::NoButton, Qt::NoModifier);
        QApplication::sendEvent(&hand.map, &buttonless);
        QVERIFY(!hand.map.isDragging());
        QCOMPARE(hand.cancels, 1);
        hand.release();
        QVERIFY(hand.commits.empty());
    }

    void aDragEndsWhenItsWindowIsLeft()
    {
        Hand hand(threeRegions());
        hand.press(hand.node(Oregon, 3));
        hand.moveTo(hand.on(Iowa));
        QFocusEvent out(QEvent::FocusOut, Qt::ActiveWindowFocusReason);
        QApplication::sendEvent(&hand.map, &out);
        QVERIFY(!hand.map.isDragging());
        QCOMPARE(hand.cancels, 1);
        hand.release();
        QVERIFY(hand.commits.empty());
    }

    void aLargeClusterAsksHowMany()
    {
        Hand hand(threeRegions(683));
        QCOMPARE(hand.map.mapLayout().detail, MapDetail::Nodes);
        hand.press(nodeRect(hand.map.mapLayout(), Oregon, 0, 5).center().toPoint());
        hand.moveTo(hand.on(Iowa));
        hand.release();
        QVERIFY(hand.commits.empty());
        auto *popup = hand.map.findChild<AmountPopup *>();
        QVERIFY(popup->isVisible());
        auto *amount = popup->findChild<QSpinBox *>();
        amount->setValue(64);
        QCOMPARE(Hand::gpusOf(hand.previews.back()), (std::vector { 5400, 5528, 5464 }));
        QTest::keyClick(amount, Qt::Key_Return);
        QVERIFY(!popup->isVisible());
        QCOMPARE(Hand::gpusOf(hand.commits.back()), (std::vector { 5400, 5528, 5464 }));
        QCOMPARE(hand.words, QStringLiteral("Move 64 GPUs Oregon → Iowa"));
    }

    void theQuestionCanBeDismissed()
    {
        Hand hand(threeRegions(683));
        hand.press(nodeRect(hand.map.mapLayout(), Oregon, 0, 5).center().toPoint());
        hand.moveTo(hand.on(Iowa));
        hand.release();
        QTest::keyClick(hand.map.findChild<AmountPopup *>()->findChild<QSpinBox *>(), Qt::Key_Escape);
        QVERIFY(!hand.map.findChild<AmountPopup *>()->isVisible());
        QVERIFY(hand.commits.empty());
        QCOMPARE(hand.cancels, 1);
    }

    void deleteRemovesTheSelection()
    {
        Hand hand(threeRegions());
        QTest::mouseClick(&hand.map, Qt::LeftButton, {}, hand.gpu(Virginia, 20));
        hand.key(Qt::Key_Delete);
        QCOMPARE(hand.words, QStringLiteral("Remove 8 GPUs from Virginia"));
        QCOMPARE(Hand::gpusOf(hand.commits.back()), (std::vector { 192, 192, 184 }));
    }

    void draggingATitleBarOfAnUnknownPlaceMovesTheIslandAndNotThePlan()
    {
        Plan plan = threeRegions(6);
        plan.cluster.datacenters[Iowa].latitude.reset();
        Hand hand(plan);
        const QRectF before = hand.map.mapLayout().islands[Iowa].frame;
        hand.press(before.topLeft().toPoint() + QPoint(30, 8));
        hand.moveTo(before.topLeft().toPoint() + QPoint(30, 48));
        hand.release();
        QCOMPARE(hand.map.mapLayout().islands[Iowa].frame.top(), before.top() + 40);
        QVERIFY(hand.previews.empty() && hand.commits.empty());
        hand.map.resetPositions();
        QCOMPARE(hand.map.mapLayout().islands[Iowa].frame, before);
    }

    void escapePutsANudgedIslandBack()
    {
        Hand hand(threeRegions(6));
        const QRectF before = hand.map.mapLayout().islands[Iowa].frame;
        hand.press(before.topLeft().toPoint() + QPoint(30, 8));
        hand.moveTo(before.topLeft().toPoint() + QPoint(30, 48));
        QVERIFY(hand.map.mapLayout().islands[Iowa].frame != before);
        hand.key(Qt::Key_Escape);
        QCOMPARE(hand.map.mapLayout().islands[Iowa].frame, before);
        hand.release();
        QCOMPARE(hand.map.mapLayout().islands[Iowa].frame, before);
    }

    void draggingAnEdgeHandleAddsALink()
    {
        Hand hand(threeRegions(8));
        hand.press(handlePoints(hand.map.mapLayout().islands[Oregon].frame)[3].toPoint());
        hand.moveTo(hand.on(Virginia));
        hand.release();
        auto *editor = hand.map.findChild<LinkEditor *>();
        QVERIFY(editor);
        editor->findChildren<QDoubleSpinBox *>().first()->setValue(60);
        editor->accept();
        QCOMPARE(hand.words, QStringLiteral("Add link Oregon – Virginia"));
        QCOMPARE(hand.commits.back()->cluster.wanLinks.size(), std::size_t(3));
        QCOMPARE(hand.commits.back()->cluster.wanLinks.back().rttMs, 60.0);
    }

    void anEmptyMapOffersToAddADatacenter()
    {
        Hand hand { Plan() };
        QTest::mouseDClick(&hand.map, Qt::LeftButton, {}, hand.map.rect().center());
        auto *editor = hand.map.findChild<DatacenterEditor *>();
        QVERIFY(editor);
        editor->findChild<QLineEdit *>()->setText(QStringLiteral("Lab"));
        for (QLineEdit *line : editor->findChildren<QLineEdit *>()) {
            if (line->accessibleName() == QStringLiteral("Name"))
                line->setText(QStringLiteral("Lab"));
        }
        editor->accept();
        QCOMPARE(hand.words, QStringLiteral("Add datacenter Lab"));
        QCOMPARE(hand.commits.back()->cluster.datacenters.back().id, std::string("lab"));
    }

    void aDoubleClickOnALinkEditsIt()
    {
        Hand hand(threeRegions());
        QTest::mouseDClick(&hand.map, Qt::LeftButton, {}, hand.map.mapLayout().links[0].card.center().toPoint());
        auto *editor = hand.map.findChild<LinkEditor *>();
        QVERIFY(editor);
        for (QDoubleSpinBox *number : editor->findChildren<QDoubleSpinBox *>())
            if (number->value() == 400) // its capacity
                number->setValue(800);
        editor->accept();
        QCOMPARE(hand.words, QStringLiteral("Edit link Virginia – Iowa"));
        QCOMPARE(hand.commits.back()->cluster.wanLinks[0].capacityGbps, 800.0);
    }

    void sixteenThousandGpusPaintAtEverySize()
    {
        for (const QSize size : { QSize(1800, 700), QSize(900, 280), QSize(420, 170) }) {
            Hand hand(threeRegions(683), size);
            QImage image(size, QImage::Format_ARGB32_Premultiplied);
            hand.map.render(&image);
            QVERIFY(!image.isNull());
        }
    }
};

TRAINYARD_TEST(ClusterMapTest)
#include "tst_cluster_map.moc"
