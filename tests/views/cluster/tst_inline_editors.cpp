// SPDX-License-Identifier: GPL-3.0-or-later
// The map's forms under real keys and clicks: they open beside what they edit, try every change on the plan at once,
// end as one edit or as none, and give the focus back.
#include "core/facts/catalogue/catalogue.h"
#include "tests/support/test_program.h"
#include "tests/views/cluster/map_hand.h"
#include "views/cluster/editors/datacenter_editor.h"
#include "views/cluster/editors/link_editor.h"
#include "views/cluster/editors/pool_editor.h"

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QLineEdit>
#include <QScrollArea>
#include <QSpinBox>
#include <QStyle>
#include <QStyleOptionSpinBox>

using namespace trainyard;
using namespace trainyard::testing;

namespace {

template <class Field> Field *named(const QWidget *form, const char *name)
{
    for (Field *field : form->findChildren<Field *>())
        if (field->accessibleName() == QLatin1String(name))
            return field;
    return nullptr;
}

void type(QWidget *field, const QString &text)
{
    field->setFocus();
    QTest::keyClick(field, Qt::Key_A, Qt::ControlModifier);
    QTest::keyClicks(field, text);
}

/// A hand whose commits become the plan, as the document does it.
struct Desk : Hand {
    explicit Desk(const Plan &start, QSize size = { 956, 520 })
        : Hand(start, size)
    {
        map.activateWindow();
        QObject::connect(
            &map, &ClusterMap::editCommitted, &map, [this](const PlanPtr &next) { map.setShown(shownOf(next)); });
    }
    void openLink(int index)
    {
        QTest::mouseDClick(&map, Qt::LeftButton, {}, map.mapLayout().links[std::size_t(index)].card.center().toPoint());
    }
};

} // namespace

class InlineEditorsTest : public QObject {
    Q_OBJECT

private slots:
    void aFormOpensBesideTheLinkInsideTheWindow()
    {
        Desk desk(threeRegions(6));
        desk.openLink(0);
        const FormPopover *form = desk.map.editor();
        QVERIFY(form && form->isVisible() && !form->isWindow());
        QVERIFY(desk.map.rect().contains(form->geometry()));
        QVERIFY(!form->geometry().intersects(desk.map.mapLayout().links[0].card.toRect()));
    }

    void everyChangeIsTriedAndDoneIsOneEdit()
    {
        Desk desk(threeRegions(6));
        desk.openLink(0);
        auto *rtt = named<QDoubleSpinBox>(desk.map.editor(), "Round trip");
        QVERIFY(rtt->hasFocus());
        QVERIFY(desk.previews.empty()); // nothing has changed yet
        type(rtt, QStringLiteral("61"));
        QCOMPARE(desk.previews.back()->cluster.wanLinks[0].rttMs, 61.0);
        QVERIFY(desk.commits.empty());
        QTest::keyClick(rtt, Qt::Key_Return);
        QVERIFY(!desk.map.editor());
        QCOMPARE(desk.commits.size(), std::size_t(1));
        QCOMPARE(desk.commits[0]->cluster.wanLinks[0].rttMs, 61.0);
        QCOMPARE(desk.words, QStringLiteral("Edit link Virginia – Iowa"));
        QCOMPARE(desk.cancels, 0);
        QVERIFY(desk.map.hasFocus());
    }

    void escapePutsBackWhatWasTried()
    {
        Desk desk(threeRegions(6));
        desk.openLink(0);
        auto *rtt = named<QDoubleSpinBox>(desk.map.editor(), "Round trip");
        type(rtt, QStringLiteral("61"));
        QTest::keyClick(rtt, Qt::Key_Escape);
        QVERIFY(!desk.map.editor());
        QCOMPARE(desk.cancels, 1);
        QVERIFY(desk.commits.empty());
        QVERIFY(desk.map.hasFocus());
    }

    void aPressOnTheMapKeepsWhatStandsInTheForm()
    {
        Desk desk(threeRegions(6));
        desk.openLink(0);
        type(named<QDoubleSpinBox>(desk.map.editor(), "Round trip"), QStringLiteral("61"));
        QTest::mouseClick(&desk.map, Qt::LeftButton, {}, desk.sea());
        QVERIFY(!desk.map.editor());
        QCOMPARE(desk.commits.size(), std::size_t(1));
        QCOMPARE(desk.commits[0]->cluster.wanLinks[0].rttMs, 61.0);
    }

    void whatCannotBeTakenIsNotTriedAndNotKept()
    {
        Desk desk(threeRegions(6));
        desk.openLink(0);
        auto *rtt = named<QDoubleSpinBox>(desk.map.editor(), "Round trip");
        type(rtt, QStringLiteral("0"));
        QVERIFY(!desk.map.editor()->isValid());
        QTest::keyClick(rtt, Qt::Key_Return);
        QVERIFY(desk.map.editor());
        QTest::mouseClick(&desk.map, Qt::LeftButton, {}, desk.sea());
        QVERIFY(!desk.map.editor());
        QVERIFY(desk.commits.empty());
    }

    void aFormOpenedOverAnotherStartsFromWhatStoodInThat()
    {
        Desk desk(threeRegions(6));
        desk.openLink(0);
        type(named<QDoubleSpinBox>(desk.map.editor(), "Round trip"), QStringLiteral("61"));
        desk.map.editSelection(); // by the menu: no press on the map comes before
        QCOMPARE(desk.commits.size(), std::size_t(1));
        auto *rtt = named<QDoubleSpinBox>(desk.map.editor(), "Round trip");
        QCOMPARE(rtt->value(), 61.0);
        QTest::keyClick(rtt, Qt::Key_Return);
        QCOMPARE(desk.commits.size(), std::size_t(1));
        QCOMPARE(desk.commits[0]->cluster.wanLinks[0].rttMs, 61.0);
    }

    void whatIsAddedOverAnOpenFormComesOnTopOfIt()
    {
        Desk desk(threeRegions(6));
        desk.openLink(0);
        type(named<QDoubleSpinBox>(desk.map.editor(), "Round trip"), QStringLiteral("61"));
        desk.map.addLink();
        QCOMPARE(desk.previews.back()->cluster.wanLinks[0].rttMs, 61.0);
        QCOMPARE(desk.previews.back()->cluster.wanLinks.size(), std::size_t(3));
        desk.map.removeSelection(); // the new link: it is selected as it is added
        QCOMPARE(desk.commits.back()->cluster.wanLinks.size(), std::size_t(2));
        QCOMPARE(desk.commits.back()->cluster.wanLinks[0].rttMs, 61.0);
    }

    void undoUnderAnOpenFormClosesItWithoutAnEdit()
    {
        Desk desk(threeRegions(6));
        desk.openLink(0);
        type(named<QDoubleSpinBox>(desk.map.editor(), "Round trip"), QStringLiteral("61"));
        Plan other = *desk.plan;
        other.workload.globalBatch = 77;
        desk.map.setShown(shownOf(std::make_shared<const Plan>(other)));
        QVERIFY(!desk.map.editor());
        QVERIFY(desk.commits.empty());
        QCOMPARE(desk.cancels, 1);
    }

    void addLinkChoosesItsEndsAndTakesThePublishedRoundTrip()
    {
        Plan plan = threeRegions(6);
        const Catalogue &catalogue = builtinCatalogue();
        const RegionLink &published = catalogue.regionLinks.front();
        for (const int end : { 0, 1 }) {
            const Region *region = catalogue.region(end == 0 ? published.from : published.to);
            plan.cluster.datacenters.push_back(
                datacenter(end == 0 ? "Here" : "There", region->latitude, region->longitude, { pool("p", 1) }));
        }
        Desk desk(plan);
        desk.map.addLink();
        FormPopover *form = desk.map.editor();
        auto *from = named<QComboBox>(form, "From"), *to = named<QComboBox>(form, "To");
        QVERIFY(from && to && to->hasFocus());
        from->setFocus();
        QTest::keyClick(from, Qt::Key_H); // "Here"
        to->setFocus();
        QTest::keyClick(to, Qt::Key_T); // "There"
        QCOMPARE(from->currentText(), QStringLiteral("Here"));
        QCOMPARE(to->currentText(), QStringLiteral("There"));
        QCOMPARE(named<QDoubleSpinBox>(form, "Round trip")->value(), published.rttMs);
        const QString source = form->findChild<QLabel *>(QStringLiteral("message"))->text();
        QVERIFY2(source.contains(QString::fromStdString(published.source).section(u' ', 1).left(40))
                && !source.contains(u'_'),
            qPrintable(source));
        QCOMPARE(desk.previews.back()->cluster.wanLinks.size(), std::size_t(3));
        QTest::keyClick(to, Qt::Key_Return);
        QCOMPARE(desk.commits.size(), std::size_t(1));
        QCOMPARE(desk.commits[0]->cluster.wanLinks.back().rttMs, published.rttMs);
        QCOMPARE(desk.words, QStringLiteral("Add link Here – There"));
        // It carries nothing yet, and is seen because it is selected.
        QCOMPARE(desk.map.selection(), (MapSelection { { MapItem::Kind::Link, -1, -1, 0, 0, 2 } }));
        QVERIFY(desk.map.mapLayout().links[2].visible);
    }

    void aLinkBetweenLinkedDatacentersIsRefused()
    {
        Desk desk(threeRegions(6));
        desk.map.addLink();
        FormPopover *form = desk.map.editor();
        QVERIFY(form->isValid()); // the pair that has none: Oregon and Virginia
        auto *to = named<QComboBox>(form, "To");
        QTest::keyClick(to, Qt::Key_Up);
        QCOMPARE(to->currentText(), QStringLiteral("Iowa"));
        QVERIFY(!form->isValid());
        QTest::keyClick(to, Qt::Key_Up);
        QVERIFY(!form->isValid()); // with itself
        QTest::keyClick(to, Qt::Key_End);
        QVERIFY(form->isValid());
    }

    void addedGpusShowBeforeTheyAreKept()
    {
        Desk desk(threeRegions(6));
        desk.map.addPool(Iowa, "h100-sxm-80gb");
        QCOMPARE(Hand::gpusOf(desk.previews.back()), (std::vector { 48, 56, 48 }));
        auto *nodes = named<QSpinBox>(desk.map.editor(), "Nodes");
        QVERIFY(nodes->hasFocus());
        type(nodes, QStringLiteral("3"));
        QCOMPARE(Hand::gpusOf(desk.previews.back()), (std::vector { 48, 72, 48 }));
        QTest::keyClick(nodes, Qt::Key_Return);
        QCOMPARE(desk.words, QStringLiteral("Add 24 × H100 SXM to Iowa"));
    }

    void aPresetWithoutAPublishedPriceLeavesThePriceOut()
    {
        const auto &regions = builtinCatalogue().regions;
        const auto unpriced = std::ranges::find(regions, 0.0, &Region::usdPerKwh);
        QVERIFY(unpriced != regions.end());
        Desk desk { Plan() };
        desk.map.addDatacenter();
        auto *preset = named<QComboBox>(desk.map.editor(), "Region of the catalogue");
        const int index = preset->findText(QString::fromStdString(unpriced->name));
        preset->setFocus();
        preset->setCurrentIndex(index);
        emit preset->activated(index);
        const Datacenter &added = desk.previews.back()->cluster.datacenters.back();
        QCOMPARE(added.name, unpriced->name);
        QCOMPARE(*added.latitude, unpriced->latitude);
        QVERIFY(!added.usdPerKwh.has_value());
    }

    void aFormFitsASmallWindowAndTabWalksIt()
    {
        Desk desk(threeRegions(6), { 640, 300 });
        desk.map.edit({ MapItem::Kind::Pool, Iowa, 0 });
        const FormPopover *form = desk.map.editor();
        QVERIFY(desk.map.rect().contains(form->geometry()));
        QSet<QWidget *> visited;
        for (int i = 0; i < 12; ++i) {
            QTest::keyClick(QApplication::focusWidget(), Qt::Key_Tab);
            QVERIFY(form->isAncestorOf(QApplication::focusWidget()));
            visited.insert(QApplication::focusWidget());
        }
        QVERIFY(visited.size() >= 6); // GPU, nodes, per node, price, two switches, Done, Cancel
    }

    void noFieldCutsWhatStandsInIt()
    {
        Desk desk(threeRegions(6), { 1100, 700 });
        WanLink wan = desk.plan->cluster.wanLinks[0];
        LinkEditor editor(
            QStringLiteral("WAN link"), wan, { QStringLiteral("Virginia"), QStringLiteral("Iowa") }, {}, &desk.map);
        editor.openBeside({ 100, 100, 40, 20 });
        for (const QDoubleSpinBox *box : editor.findChildren<QDoubleSpinBox *>()) {
            QStyleOptionSpinBox option;
            option.initFrom(box);
            const QRect field =
                box->style()->subControlRect(QStyle::CC_SpinBox, &option, QStyle::SC_SpinBoxEditField, box);
            QVERIFY2(
                box->fontMetrics().horizontalAdvance(box->text()) <= field.width(), qPrintable(box->accessibleName()));
        }
    }

    void aPopoverGoesWhereItHidesLeastOfItsAnchor()
    {
        const QRect room(0, 0, 1000, 600);
        // right of it
        QCOMPARE(popoverPlace({ 100, 200, 50, 40 }, { 300, 200 }, room).left(), 149 + 10);
        // no room right: left of it
        QVERIFY(popoverPlace({ 900, 200, 50, 40 }, { 300, 200 }, room).right() < 900);
        // neither: below it
        QVERIFY(popoverPlace({ 20, 20, 960, 100 }, { 300, 200 }, room).top() > 120);
        for (const QRect anchor : { QRect(-50, -50, 20, 20), QRect(990, 590, 300, 300), QRect(0, 0, 1000, 600) })
            QVERIFY(room.contains(popoverPlace(anchor, { 300, 200 }, room)));
    }
};

TRAINYARD_TEST(InlineEditorsTest)
#include "tst_inline_editors.moc"
