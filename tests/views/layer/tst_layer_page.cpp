// SPDX-License-Identifier: GPL-3.0-or-later
// The page of an opened layer with real events, and what it says against the numbers of a layer written down.
#include "opened_layer.h"
#include "tests/support/test_program.h"

#include "views/layer/layer_painter.h"
#include "views/layer/layer_text.h"
#include "views/parts/text_line.h"

#include <QPushButton>
#include <QTabBar>
#include <QTranslator>
#include <QWheelEvent>

using namespace trainyard;

namespace {

/// A language that has a word of its own for "Exposed" in each part of the program.
class OwnWords : public QTranslator {
public:
    [[nodiscard]] bool isEmpty() const override { return false; }
    [[nodiscard]] QString translate(
        const char *context, const char *source, const char * /*comment*/, int /*count*/) const override
    {
        return qstrcmp(source, "Exposed") == 0 ? QString::fromLatin1(context) : QString();
    }
};

} // namespace

class LayerPageTest : public QObject {
    Q_OBJECT
private slots:
    void theNumbersAreThoseOfTheLayer()
    {
        LayerFixture f;
        f.open();
        const QString text = f.page.text();
        // 50 + (200 + 200 + 100) + 600 + 300 = 1450; kernels 650, the other 800 are exposed.
        for (const QString &said : { QStringLiteral("1.45 ms"), QStringLiteral("800 µs"), QStringLiteral("650 µs"),
                 QStringLiteral("Stage 4: experts over 16 ranks on 2 nodes"),
                 QStringLiteral("4,096 tokens a GPU, each to 8 of 256 experts"),
                 QStringLiteral(
                     "Dispatch tensor-sliced, 2 pieces. Slices in 2 pieces: the layer takes 1.25 ms forward and "
                     "2.50 ms backward against 1.50 ms forward and 3.00 ms backward flat, as each of 8 "
                     "ranks that hold the same tokens sends 8.00 times less.") })
            QVERIFY2(text.contains(said), qPrintable(said + u'\n' + text));
    }
    void exposedTimeIsAWarningInEveryLanguage()
    {
        OwnWords words;
        QCoreApplication::installTranslator(&words);
        LayerFixture f;
        f.open();
        QCoreApplication::removeTranslator(&words);
        QStringList warnings;
        for (const TextLine *line : f.page.findChildren<TextLine *>())
            if (line->ink() == Ink::Warning)
                warnings << line->text();
        QCOMPARE(warnings, QStringList { QStringLiteral("800 µs") }); // of 1450, kernels run 650
    }
    void wireAndLogicalBandwidthStandApart()
    {
        // Dispatch, 500 us: 20 MB over the NIC are 40 GB/s, 40 MB over NVLink 80 GB/s; 35 MB logical 70 GB/s.
        LayerFixture f;
        f.open();
        const ExchangeTable table = exchangeTable(f.page.canvas->chart());
        QCOMPARE(table.heads,
            (QStringList { QStringLiteral("Exchange"), QStringLiteral("Time"), QStringLiteral("NIC, wire"),
                QStringLiteral("NVLink, wire"), QStringLiteral("Logical") }));
        QCOMPARE(table.lines.front(),
            (QStringList { QStringLiteral("Dispatch"), QStringLiteral("500 µs"), QStringLiteral("20.0 MB · 40.0 GB/s"),
                QStringLiteral("40.0 MB · 80.0 GB/s"), QStringLiteral("35.0 MB · 70.0 GB/s") }));
        QCOMPARE(table.lines.back().at(3), QStringLiteral("–")); // a combine without NVLink
        for (const QString &cell : table.lines.front())
            QVERIFY2(f.page.text().contains(cell), qPrintable(cell));
    }
    void hoveringTellsOfASpan()
    {
        LayerFixture f;
        f.open();
        const std::size_t piece = f.span(LayerStep::Dispatch, 1, LayerStream::Nic);
        QTest::mouseMove(f.page.canvas, f.at(piece));
        QTRY_VERIFY(f.page.canvas->card()->isVisible());
        const QString card = f.page.canvas->card()->text();
        // The second 10 MB go from 250 to 450 us: 50 GB/s.
        for (const QString &said : { QStringLiteral("Dispatch over the NIC, piece 2 of 2"),
                 QStringLiteral("200 µs from 250 µs on"), QStringLiteral("as long as alone"),
                 QStringLiteral("10.0 MB on this wire, 50.0 GB/s"), QStringLiteral("logical 70.0 GB/s") })
            QVERIFY2(card.contains(said), qPrintable(said + u'\n' + card));
        QTest::mouseMove(f.page.canvas, QPoint(2, 2));
        QTRY_VERIFY(!f.page.canvas->card()->isVisible());
    }
    void aClickSelectsAndKeysGoOn()
    {
        LayerFixture f;
        f.open();
        QTest::mouseClick(f.page.canvas, Qt::LeftButton, {}, f.at(f.span(LayerStep::Products)));
        QCOMPARE(f.page.canvas->selected(), std::optional(f.span(LayerStep::Products)));
        QVERIFY(f.page.text().contains(QStringLiteral("600 µs from 550 µs on")));
        QVERIFY(f.page.canvas->accessibleDescription().startsWith(QStringLiteral("Experts")));
        QTest::keyClick(f.page.canvas, Qt::Key_Left);
        QCOMPARE(f.page.canvas->selected(), std::optional(f.span(LayerStep::Router)));
        QTest::keyClick(f.page.canvas, Qt::Key_Down);
        QCOMPARE(f.page.canvas->selected(), std::optional(f.span(LayerStep::Dispatch, 0, LayerStream::Nic)));
        QTest::keyClick(f.page.canvas, Qt::Key_Right);
        QCOMPARE(f.page.canvas->selected(), std::optional(f.span(LayerStep::Dispatch, 1, LayerStream::Nic)));
        QTest::mouseClick(f.page.canvas, Qt::LeftButton, {}, { 3, 3 }); // on no span
        QVERIFY(!f.page.canvas->selected());
    }
    void theWheelZoomsADragPansAndHomeShowsAll()
    {
        LayerFixture f;
        f.open();
        const TimeInterval whole = f.page.canvas->range();
        QCOMPARE(whole, (TimeInterval { 0, 1'450'000 }));
        const QPoint at = f.at(f.span(LayerStep::Products));
        QWheelEvent wheel(at, f.page.canvas->mapToGlobal(at), {}, { 0, 120 * 4 }, Qt::NoButton, Qt::ControlModifier,
            Qt::NoScrollPhase, false);
        QApplication::sendEvent(f.page.canvas, &wheel);
        const TimeInterval near = f.page.canvas->range();
        QVERIFY(near.length() < whole.length() / 2);
        QVERIFY(std::abs(f.at(f.span(LayerStep::Products)).y() - at.y()) <= 1);
        QTest::mousePress(f.page.canvas, Qt::LeftButton, {}, at);
        QTest::mouseMove(f.page.canvas, at + QPoint(120, 0));
        QTest::mouseRelease(f.page.canvas, Qt::LeftButton, {}, at + QPoint(120, 0));
        QVERIFY(f.page.canvas->range().begin < near.begin);
        QCOMPARE(f.page.canvas->range().length(), near.length());
        QVERIFY(!f.page.canvas->selected()); // a drag is no click
        QTest::keyClick(f.page.canvas, Qt::Key_Home);
        QCOMPARE(f.page.canvas->range(), whole);
        QTest::mouseDClick(f.page.canvas, Qt::LeftButton, {}, f.at(f.span(LayerStep::Router)));
        QVERIFY(f.page.canvas->range().length() < 80'000);
    }
    void eachPassHasItsOwnChart()
    {
        LayerFixture f;
        f.open();
        QVERIFY(f.page.passes->isTabVisible(2));
        QTest::mouseClick(f.page.passes, Qt::LeftButton, {}, f.page.passes->tabRect(1).center());
        QVERIFY(f.page.pass() == LayerPass::Backward);
        QCOMPARE(f.page.canvas->chart().duration, 2'050'000);
        QCOMPARE(f.page.canvas->rows().groups.size(), std::size_t(2)); // a mean rank beside the fullest
        QTest::mouseClick(f.page.passes, Qt::LeftButton, {}, f.page.passes->tabRect(2).center());
        QVERIFY(f.page.pass() == LayerPass::Pair);
        QCOMPARE(f.page.canvas->chart().duration, toNanoseconds(pairTimes(*f.found->pair).total));
        QTRY_VERIFY(f.page.text().contains(QStringLiteral("Dispatch, backward")));
    }
    void aLayerWithoutAPairHasNoTabForIt()
    {
        LayerFixture f;
        f.found = writtenOpening(false);
        f.open(LayerPass::Pair);
        QVERIFY(f.page.pass() == LayerPass::Forward);
        QVERIFY(!f.page.passes->isTabVisible(2));
    }
    void escapeAndTheButtonLeave()
    {
        LayerFixture f;
        f.open();
        QSignalSpy closed(&f.page, &LayerPage::closed);
        f.page.activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(&f.page));
        f.page.canvas->setFocus();
        QTest::keyClick(f.page.canvas, Qt::Key_Escape);
        QCOMPARE(closed.size(), 1);
        QTest::mouseClick(f.page.back, Qt::LeftButton);
        QCOMPARE(closed.size(), 2);
    }
    void aPlanWithoutExpertsSaysSo()
    {
        LayerFixture f;
        f.found.reset();
        f.page.show();
        f.opener.setEvaluation(std::make_shared<const Evaluation>());
        QTRY_VERIFY(f.page.text().contains(QStringLiteral("no layer of experts")));
        QVERIFY(!f.page.canvas->isVisible());
    }
    void nothingIsOpenedWhileNobodyLooks()
    {
        LayerFixture f;
        f.opener.setEvaluation(std::make_shared<const Evaluation>());
        QCoreApplication::processEvents();
        QVERIFY(!f.opener.isWorking());
        QCOMPARE(f.asked.load(), 0);
        f.page.show();
        QTRY_VERIFY(f.page.layer() != nullptr);
        QCOMPARE(f.asked.load(), 1);
        f.page.hide();
        f.opener.setEvaluation(std::make_shared<const Evaluation>());
        QCoreApplication::processEvents();
        QVERIFY(!f.opener.isWorking());
        QCOMPARE(f.asked.load(), 1);
        f.page.show();
        QTRY_COMPARE(f.asked.load(), 2);
    }
    void rowsFitASmallWindowAndTheLabelsTheirColumn()
    {
        LayerFixture f({ 1264, 600 });
        f.open(LayerPass::Pair);
        const LayerRows &rows = f.page.canvas->rows();
        QVERIFY(rows.rowHeight >= kLeastLayerRow);
        QVERIFY(rows.height + LayerCanvas::kRuler <= f.page.canvas->height());
        for (std::size_t i = 0; i < f.page.canvas->chart().spans.size(); ++i)
            QVERIFY(f.page.canvas->rect().contains(f.page.canvas->rectOf(i).center().toPoint()));
    }
    void bareTimesAreWhatIsExposed()
    {
        LayerFixture f;
        f.open();
        for (const LayerPass pass : { LayerPass::Forward, LayerPass::Backward, LayerPass::Pair }) {
            f.page.showPass(pass);
            Nanoseconds sum = 0;
            for (const BareTime &bare : bareTimes(f.page.canvas->chart()))
                sum += bare.end - bare.start;
            const OpenedLayer &layer = *f.page.layer();
            const LayerTimes times = pass == LayerPass::Forward ? layer.layer.forwardTimes
                : pass == LayerPass::Backward                   ? layer.layer.backwardTimes
                                                                : layer.pairTimes;
            QCOMPARE(sum, toNanoseconds(times.exposed));
        }
    }
    void spansStandOutInEveryTheme()
    {
        // Of a contrast of at least 1.5 to the ground of the rows: colours alone tell them from idle time.
        const auto lightness = [](const QColor &c) {
            const auto linear = [](float v) { return v <= 0.04045F ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4); };
            return 0.2126 * linear(c.redF()) + 0.7152 * linear(c.greenF()) + 0.0722 * linear(c.blueF());
        };
        LayerFixture f;
        f.open(LayerPass::Pair);
        for (const ThemeKind kind : { ThemeKind::Light, ThemeKind::Dark, ThemeKind::HighContrast }) {
            applyTheme(*qApp, kind);
            const double ground = lightness(theme().idle);
            for (const LayerSpan &span : f.page.canvas->chart().spans) {
                const double of = lightness(layerColor(span));
                const double contrast = (std::max(of, ground) + 0.05) / (std::min(of, ground) + 0.05);
                QVERIFY2(contrast >= 1.5, toString(span.step));
            }
            const QImage image = f.page.canvas->grab().toImage();
            const std::size_t products = f.span(LayerStep::Products);
            const QPoint corner = f.page.canvas->rectOf(products).topLeft().toPoint() + QPoint(6, 6);
            QCOMPARE(image.pixelColor(corner).rgb(), layerColor(f.page.canvas->chart().spans[products]).rgb());
        }
    }
};

TRAINYARD_TEST(LayerPageTest)
#include "tst_layer_page.moc"
