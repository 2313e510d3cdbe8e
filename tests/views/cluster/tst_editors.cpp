// SPDX-License-Identifier: GPL-3.0-or-later
// The map's editors: Done without a touch leaves everything as it was, to the last digit.
#include "core/facts/catalogue/catalogue.h"
#include "core/facts/cluster/distance.h"
#include "core/facts/plan/plan_io.h"
#include "tests/support/test_program.h"
#include "tests/views/cluster/map_fixtures.h"
#include "views/cluster/editors/datacenter_editor.h"
#include "views/cluster/editors/link_editor.h"
#include "views/cluster/editors/pool_editor.h"

#include <QApplication>
#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QTest>

using namespace trainyard;
using namespace trainyard::testing;

namespace {

QDoubleSpinBox *field(const QWidget &dialog, const QString &name)
{
    for (QDoubleSpinBox *box : dialog.findChildren<QDoubleSpinBox *>())
        if (box->accessibleName() == name)
            return box;
    return nullptr;
}

QSpinBox *counter(const QWidget &dialog, const QString &name)
{
    for (QSpinBox *box : dialog.findChildren<QSpinBox *>())
        if (box->accessibleName() == name)
            return box;
    return nullptr;
}

void type(QAbstractSpinBox &box, const QString &text)
{
    box.setFocus();
    QTest::keyClick(&box, Qt::Key_A, Qt::ControlModifier);
    QTest::keyClick(&box, Qt::Key_Delete);
    QTest::keyClicks(&box, text);
}

} // namespace

class EditorsTest : public QObject {
    Q_OBJECT

private slots:
    void aSampleSurvivesEveryEditor()
    {
        const auto read = readPlan(TRAINYARD_SOURCE_DIR "/samples/mixed-lab.trainyard.json");
        QVERIFY(read.has_value());
        Plan next = *read;
        for (Datacenter &datacenter : next.cluster.datacenters) {
            for (Pool &pool : datacenter.pools)
                pool = PoolEditor(QString(), pool, nullptr).pool();
            datacenter = DatacenterEditor(datacenter, false, nullptr).datacenter();
        }
        QCOMPARE(next, *read);
    }

    void drivesOfAPoolAppearWithTheirSwitchAndGoWithIt()
    {
        const Pool bare = pool("p", 1, 2, "a100-pcie-40gb");
        PoolEditor editor(QString(), bare, nullptr);
        editor.show();
        QDoubleSpinBox *write = field(editor, QStringLiteral("Write"));
        QCheckBox *has = nullptr;
        for (QCheckBox *box : editor.findChildren<QCheckBox *>())
            if (box->text().startsWith(QLatin1String("Drives")))
                has = box;
        QVERIFY(has && write && !write->isVisible());
        QTest::mouseClick(has, Qt::LeftButton, {}, QPoint(8, has->height() / 2));
        QVERIFY(write->isVisible());
        write->setValue(24.8);
        field(editor, QStringLiteral("Read"))->setValue(28.8);
        field(editor, QStringLiteral("Endurance"))->setValue(73);
        field(editor, QStringLiteral("Drives cost"))->setValue(1440);
        field(editor, QStringLiteral("Write amplification"))->setValue(1.2);
        field(editor, QStringLiteral("Retention gain"))->setValue(86);
        for (QSpinBox *box : editor.findChildren<QSpinBox *>())
            if (box->accessibleName() == QLatin1String("GPUs per PCIe switch"))
                box->setValue(2);
        const auto ssd = editor.pool().ssd;
        QVERIFY(ssd);
        QCOMPARE(*ssd,
            (Ssd { .writeGBps = 24.8,
                .readGBps = 28.8,
                .endurancePb = 73,
                .usd = 1440,
                .writeAmplification = 1.2,
                .retentionGain = 86,
                .gpusSharing = 2 }));
        QVERIFY(field(editor, QStringLiteral("Retention gain"))->toolTip().contains("risk"));
        QTest::mouseClick(has, Qt::LeftButton, {}, QPoint(8, has->height() / 2));
        QCOMPARE(editor.pool(), bare);
    }

    void whatAFieldRefusesStaysToBeSeenAndHoldsDone()
    {
        const Pool seven = pool("p", 7);
        PoolEditor editor(QString(), seven, nullptr);
        editor.show();
        QVERIFY(QTest::qWaitForWindowExposed(&editor));
        QSpinBox *nodes = counter(editor, QStringLiteral("Nodes"));
        QLabel *message = editor.findChild<QLabel *>(QStringLiteral("message"));
        QPushButton *ok = editor.findChild<QDialogButtonBox *>()->button(QDialogButtonBox::Ok);
        QVERIFY(nodes && message && ok && ok->isEnabled());
        for (const char *typed : { "-3", "99999999", "0.1", "many", "" }) {
            type(*nodes, QLatin1String(typed));
            QCOMPARE(nodes->text(), QLatin1String(typed)); // not corrected in silence
            QVERIFY(!ok->isEnabled());
            QVERIFY2(message->text().startsWith(QStringLiteral("Nodes: a whole number from 1 to 1,000,000")),
                qPrintable(message->text()));
            QVERIFY(message->text().contains(QLatin1String(typed)));
            QTest::keyClick(nodes, Qt::Key_Return);
            QVERIFY(editor.isVisible());
            counter(editor, QStringLiteral("GPUs per node"))->setFocus();
            QCOMPARE(nodes->text(), QLatin1String(typed));
        }
        type(*nodes, QStringLiteral("56"));
        QVERIFY(ok->isEnabled());
        QCOMPARE(editor.pool().nodes, 56);
        QVERIFY(message->text().contains(QStringLiteral("448 GPUs")));
    }

    void aRateTooFineForItsFieldIsRefusedAndNotRoundedToNothing()
    {
        Pool driven = pool("p", 1);
        driven.ssd = Ssd { .writeGBps = 20, .readGBps = 28 };
        PoolEditor editor(QString(), driven, nullptr);
        editor.show();
        QVERIFY(QTest::qWaitForWindowExposed(&editor));
        QPushButton *ok = editor.findChild<QDialogButtonBox *>()->button(QDialogButtonBox::Ok);
        QDoubleSpinBox *write = field(editor, QStringLiteral("Write"));
        type(*write, QStringLiteral("0.001"));
        QVERIFY(!ok->isEnabled());
        QVERIFY(editor.findChild<QLabel *>(QStringLiteral("message"))
                    ->text()
                    .contains(QStringLiteral("2 decimals at most")));
        type(*write, QStringLiteral("1e2"));
        QVERIFY(ok->isEnabled());
        QCOMPARE(editor.pool().ssd->writeGBps, 100.0);
    }

    void drivesWithoutARateAndSwitchesWiderThanANodeAreRefused()
    {
        Pool driven = pool("p", 1);
        driven.ssd = Ssd { .writeGBps = 20, .readGBps = 28 };
        PoolEditor editor(QString(), driven, nullptr);
        editor.show();
        QVERIFY(QTest::qWaitForWindowExposed(&editor));
        QPushButton *ok = editor.findChild<QDialogButtonBox *>()->button(QDialogButtonBox::Ok);
        QLabel *message = editor.findChild<QLabel *>(QStringLiteral("message"));
        QDoubleSpinBox *write = field(editor, QStringLiteral("Write"));
        type(*write, QStringLiteral("0"));
        QVERIFY(!ok->isEnabled());
        QVERIFY2(message->text().contains("0 GB/s"), qPrintable(message->text()));
        type(*write, QStringLiteral("20"));
        QVERIFY(ok->isEnabled());
        type(*counter(editor, QStringLiteral("GPUs per PCIe switch")), QStringLiteral("99"));
        QVERIFY(!ok->isEnabled());
        QCOMPARE(message->text(), QStringLiteral("99 GPUs cannot share a PCIe switch where a node has 8."));
        type(*counter(editor, QStringLiteral("GPUs per PCIe switch")), QStringLiteral("8"));
        QVERIFY(ok->isEnabled());
    }

    void theFirstDrivesOfANodeSayWhereTheirFiguresComeFrom()
    {
        PoolEditor editor(QString(), pool("p", 1), nullptr);
        for (const char *name : { "Write", "Read", "Endurance", "Drives cost" })
            QVERIFY(field(editor, QLatin1String(name))->toolTip().contains("Samsung 980 PRO"));
        Pool driven = pool("p", 1);
        driven.ssd = Ssd { .writeGBps = 12, .readGBps = 12 }; // whose figures are the plan's
        PoolEditor own(QString(), driven, nullptr);
        QVERIFY(!field(own, QStringLiteral("Write"))->toolTip().contains("Samsung"));
    }

    void drivesBetweenTheShownDigitsStay()
    {
        Pool odd = pool("p", 1, 2, "a100-pcie-40gb");
        odd.ssd = Ssd { .writeGBps = 6.123456,
            .readGBps = 7.00001,
            .endurancePb = 0.33333,
            .usd = 0.4,
            .writeAmplification = 1.001,
            .retentionGain = 1.04 };
        odd.host = Host { .memoryGib = 511.5, .gbytesPerSecondPerGpu = 23.45 };
        QCOMPARE(PoolEditor(QString(), odd, nullptr).pool(), odd);
    }

    void lossAndProviderOfALinkAreEdited()
    {
        LinkEditor editor(QString(), link("a", "b", 40, 100), {}, {}, nullptr);
        field(editor, QStringLiteral("Packet loss"))->setValue(0.1);
        QComboBox *cloud = editor.findChild<QComboBox *>();
        QVERIFY(field(editor, QStringLiteral("TCP window per connection"))->isEnabled());
        cloud->setFocus();
        cloud->setCurrentIndex(cloud->findData(QStringLiteral("gcp")));
        QVERIFY(!field(editor, QStringLiteral("TCP window per connection"))->isEnabled()); // the provider's counts
        QCOMPARE(editor.link().lossRate, 0.001);
        QCOMPARE(editor.link().cloud, std::string("gcp"));
    }

    void jitterOfALinkIsEdited()
    {
        LinkEditor editor(QString(), link("a", "b", 40, 100), {}, {}, nullptr);
        QCOMPARE(field(editor, QStringLiteral("Jitter"))->value(), 0.0);
        field(editor, QStringLiteral("Jitter"))->setValue(2.5);
        QCOMPARE(editor.link().jitterMs, 2.5);
        QCOMPARE(editor.link().rttMs, 40.0);
    }

    void theLargestFiguresOfAPlanFileAreShownAsTheyAre()
    {
        WanLink wan = link("a", "b", 1e6, 1e12);
        wan.nodePairGbps = 1e12;
        wan.tcpWindowMb = 1e6;
        wan.lossRate = 0.5;
        wan.usdPerGb = { 1e3, 999 };
        LinkEditor editor(QString(), wan, { QStringLiteral("A"), QStringLiteral("B") }, {}, nullptr);
        QCOMPARE(field(editor, QStringLiteral("TCP window per connection"))->value(), 1e6);
        QCOMPARE(field(editor, QStringLiteral("Round trip"))->value(), 1e6);
        QCOMPARE(field(editor, QStringLiteral("Capacity, each way"))->value(), 1e12);
        QCOMPARE(field(editor, QStringLiteral("Per node pair"))->value(), 1e12);
        QCOMPARE(field(editor, QStringLiteral("Packet loss"))->value(), 50.0);
        QCOMPARE(field(editor, QStringLiteral("A → B"))->value(), 1e3);
        QCOMPARE(editor.link(), wan);

        Datacenter site = datacenter("Site", 0, 0, {});
        site.fabricGbpsPerGpu = 1e6;
        site.fabricMeasuredGBps = 1e5;
        site.usdPerKwh = 1e3;
        site.kgCo2PerKwh = 1e2;
        DatacenterEditor siteEditor(site, false, nullptr);
        QCOMPARE(field(siteEditor, QStringLiteral("Fabric per GPU"))->value(), 1e6);
        QCOMPARE(field(siteEditor, QStringLiteral("Fabric, measured"))->value(), 1e5);
        QCOMPARE(field(siteEditor, QStringLiteral("Electricity"))->value(), 1e3);
        QCOMPARE(field(siteEditor, QStringLiteral("Carbon"))->value(), 1e2);
    }

    void aNewLinkFarFromEveryRegionIsEstimatedByDistance()
    {
        Cluster cluster;
        cluster.datacenters = { datacenter("Ulan Bator", 47.9, 106.9, {}), datacenter("Perth", -31.95, 115.86, {}) };
        const SuggestedLink suggested = suggestLink(cluster, 0, 1, builtinCatalogue());
        const double km = greatCircleKm({ 47.9, 106.9 }, { -31.95, 115.86 });
        QVERIFY(std::abs(suggested.link.rttMs - (8 + 2 * km * 1.3 / (2.0 / 3 * 299.792458))) <= 0.05);
        QVERIFY(suggested.source.contains(QStringLiteral("estimated from 8,9")));
    }

    void aNewLinkBetweenTwoZonesSaysWhereItsFiguresComeFrom()
    {
        Cluster cluster;
        cluster.datacenters = { datacenter("us-central1-a", 41.3, -95.9, {}),
            datacenter("us-west1-b", 45.6, -121.2, {}) };
        const SuggestedLink suggested = suggestLink(cluster, 0, 1, builtinCatalogue());
        QCOMPARE(suggested.link.cloud, std::string("gcp-zones"));
        QVERIFY(suggested.source.contains(
            QStringLiteral("Bandwidth of node pairs and price as in Google Cloud zones, as Sailor measured them")));
        cluster.datacenters[1].id = cluster.datacenters[1].name = "oregon";
        QVERIFY(suggestLink(cluster, 0, 1, builtinCatalogue()).link.cloud.empty());
    }

    void figuresBetweenTheShownDigitsStay()
    {
        Datacenter site = datacenter("Site", 45.678912, -121.23456, {});
        site.fabricGbpsPerGpu = 88.6437;
        site.fabricMeasuredGBps = 0.00123; // 0.00 on screen
        site.usdPerKwh = 0; // given, and nothing
        site.kgCo2PerKwh = 0.12345;
        QCOMPARE(DatacenterEditor(site, false, nullptr).datacenter(), site);
        site.longitude.reset();
        QCOMPARE(DatacenterEditor(site, false, nullptr).datacenter(), site);

        WanLink wan = link("a", "b", 0.0042, 99.87654);
        wan.nodePairGbps = 4.98765;
        wan.tcpWindowMb = 1.43051;
        wan.usdPerGb = { 0.012345, 0.0876543 };
        wan.lossRate = 1.2345e-7; // 0.0000 % on screen
        wan.cloud = "aws";
        QCOMPARE(LinkEditor(QString(), wan, {}, {}, nullptr).link(), wan);

        Pool priced = pool("p", 3);
        priced.usdPerGpuHour = 0;
        QCOMPARE(PoolEditor(QString(), priced, nullptr).pool(), priced);
        priced.usdPerGpuHour = 2.98765;
        QCOMPARE(PoolEditor(QString(), priced, nullptr).pool(), priced);
    }

    void anIdIsMadeOfWhatCanBeTypedAnywhere()
    {
        Datacenter site;
        site.name = "New datacenter";
        DatacenterEditor editor(site, true, nullptr);
        editor.show();
        auto *name = editor.findChild<QLineEdit *>();
        for (QLineEdit *line : editor.findChildren<QLineEdit *>())
            name = line->accessibleName() == QLatin1String("Name") ? line : name;
        const auto paste = [name](const QString &text) { // keys of other scripts are not on every keyboard
            name->selectAll();
            QApplication::clipboard()->setText(text);
            QTest::keyClick(name, Qt::Key_V, Qt::ControlModifier);
        };
        paste(QStringLiteral("(Zürich) – #2 "));
        QCOMPARE(editor.datacenter().id, std::string("z-rich-2"));
        QCOMPARE(editor.datacenter().name, QStringLiteral("(Zürich) – #2").toStdString());
        paste(QStringLiteral("東京"));
        QCOMPARE(editor.datacenter().id, std::string("datacenter"));
    }

    void anUnknownGpuStaysAndShowsItsId()
    {
        const Pool unknown = pool("p", 3, 8, "h300-from-the-future");
        PoolEditor editor(QString(), unknown, nullptr);
        QCOMPARE(editor.findChild<QComboBox *>()->currentText(), QStringLiteral("h300-from-the-future"));
        QCOMPARE(editor.pool(), unknown);
    }

    void whatIsTypedCounts()
    {
        Datacenter site = datacenter("Site", 45.678912, -121.23456, {});
        DatacenterEditor editor(site, false, nullptr);
        field(editor, QStringLiteral("Electricity"))->setValue(0);
        field(editor, QStringLiteral("Latitude"))->setValue(50.25);
        site.usdPerKwh = 0;
        site.latitude = 50.25;
        QCOMPARE(editor.datacenter(), site);
        QDoubleSpinBox *electricity = field(editor, QStringLiteral("Electricity"));
        electricity->setValue(electricity->minimum());
        site.usdPerKwh.reset();
        QCOMPARE(editor.datacenter(), site);
    }
};

TRAINYARD_TEST(EditorsTest)
#include "tst_editors.moc"
