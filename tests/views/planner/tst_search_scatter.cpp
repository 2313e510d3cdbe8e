// SPDX-License-Identifier: GPL-3.0-or-later
// The scatter of a search alone: its coordinates, what it draws while 20,000 points come, and what pointer and keys do.
#include "core/planner/search/search_front.h"
#include "tests/support/test_program.h"
#include "views/export/panel_picture.h"
#include "views/planner/scatter_frame.h"
#include "views/planner/scatter_marks.h"
#include "views/planner/search_scatter.h"
#include "views/theme/theme.h"

#include <QApplication>
#include <QPainter>
#include <QSignalSpy>
#include <QSvgRenderer>
#include <QTest>
#include <QWheelEvent>

#include <cmath>
#include <set>

using namespace trainyard;

namespace {

/// Prices and times of a cloud between (1, 10) and (4, 40); every fourth is not simulated.
std::vector<SearchRow> cloud(std::size_t count)
{
    std::vector<SearchRow> rows(count);
    std::uint32_t seed = 7;
    const auto draw = [&seed] {
        seed = seed * 1664525 + 1013904223;
        return double(seed >> 8) / double(1 << 24);
    };
    for (std::size_t i = 0; i < count; ++i) {
        rows[i].number = i;
        rows[i].state = RowState(1 + i % 4);
        rows[i].seconds = 10 + 30 * draw();
        rows[i].usdPerMillionTokens = i % 4 == 0 ? 0 : 1 + 3 * draw();
        rows[i].tokensPerSecond = i % 4 == 0 ? 0 : 1e6 / rows[i].seconds;
        rows[i].value = rows[i].seconds;
    }
    return rows;
}

struct Shown {
    SearchScatter scatter;
    Shown()
    {
        scatter.resize(600, 360);
        scatter.show();
    }
    QImage picture()
    {
        QImage image(scatter.size(), QImage::Format_ARGB32_Premultiplied);
        image.fill(theme().panel);
        scatter.render(&image);
        return image;
    }
};

/// The picture that is saved as vectors, as a viewer of such files draws it.
QImage drawnVectors(SearchScatter &scatter)
{
    QSvgRenderer renderer(pictureOf(&scatter, QStringLiteral(".svg")));
    QImage image(scatter.size(), QImage::Format_RGB32);
    image.fill(theme().panel);
    QPainter painter(&image);
    renderer.render(&painter);
    return image;
}

/// Whether anything is drawn around a place: it is not all of one colour.
bool isMarked(const QImage &image, QPoint at)
{
    const QImage around = image.copy(at.x() - 3, at.y() - 3, 7, 7);
    QImage ground(around.size(), around.format());
    ground.fill(around.pixelColor(0, 0));
    return around != ground;
}

} // namespace

class SearchScatterTest : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { applyTheme(*qApp, ThemeKind::Dark); }

    void coordinatesGoThereAndBack()
    {
        ScatterFrame frame { QRectF(50, 20, 400, 300), 20, { 0.5, 8 }, { 2, 90 } };
        for (const double usd : { 0.5, 1.0, 7.9 })
            QVERIFY(std::abs(frame.usdAt(frame.xOf(usd)) / usd - 1) < 1e-9);
        for (const double seconds : { 2.0, 13.0, 90.0 })
            QVERIFY(std::abs(frame.secondsAt(frame.yOf(seconds)) / seconds - 1) < 1e-9);
        QCOMPARE(frame.yOf(2), frame.area.bottom()); // fast is below, cheap at the left
        QCOMPARE(frame.xOf(0.5), frame.plane().left());
        QVERIFY(frame.xOf(0) < frame.plane().left()); // no price: the gutter
        // Zooming keeps the value under the pointer in its place.
        const AxisRange zoomed = frame.price.zoomed(2, 0.7);
        QVERIFY(std::abs(zoomed.shareOf(2) - frame.price.shareOf(2)) < 1e-9);
        QVERIFY(zoomed.to / zoomed.from < frame.price.to / frame.price.from);
    }

    void statesDifferInShapeAndInColour()
    {
        std::set<QRgb> inks;
        std::vector<QImage> shapes;
        for (const RowState state :
            { RowState::Feasible, RowState::OutOfConstraint, RowState::Infeasible, RowState::Outdone }) {
            inks.insert(markInk(state).rgb());
            QImage mask = rowSprite(state, 1).convertToFormat(QImage::Format_Alpha8); // without its colour
            for (const QImage &other : shapes) {
                int different = 0;
                for (int y = 0; y < mask.height(); ++y)
                    for (int x = 0; x < mask.width(); ++x)
                        different += std::abs(mask.constScanLine(y)[x] - other.constScanLine(y)[x]) > 60;
                QVERIFY(different >= 6);
            }
            shapes.push_back(mask);
        }
        QCOMPARE(inks.size(), std::size_t(4));
    }

    void aSpriteIsLaidOverAsAPainterDoes()
    {
        const QImage sprite = rowSprite(RowState::Infeasible, 2);
        QImage ours(40, 40, QImage::Format_ARGB32_Premultiplied), theirs = ours;
        ours.fill(QColor(20, 60, 90));
        theirs.fill(QColor(20, 60, 90));
        putSprite(ours, sprite, 18, 21);
        putSprite(ours, sprite, 39, 0); // partly outside
        QPainter painter(&theirs);
        painter.drawImage(18 - sprite.width() / 2, 21 - sprite.height() / 2, sprite);
        painter.drawImage(39 - sprite.width() / 2, -(sprite.height() / 2), sprite);
        painter.end();
        for (int y = 0; y < 40; ++y)
            for (int x = 0; x < 40; ++x) {
                const QColor a = ours.pixelColor(x, y), b = theirs.pixelColor(x, y);
                QVERIFY(std::abs(a.red() - b.red()) <= 2 && std::abs(a.green() - b.green()) <= 2
                    && std::abs(a.blue() - b.blue()) <= 2);
            }
    }

    void whatGrowsLooksLikeWhatWasThereAtOnce()
    {
        const std::vector<SearchRow> rows = cloud(20'000);
        const std::vector<SearchRow> first(rows.begin(), rows.begin() + 10'000);
        Shown grown, whole;
        for (Shown *shown : { &grown, &whole }) {
            shown->scatter.setRows(first, true);
            shown->scatter.showAll(); // the axes stay as they are from now on
        }
        for (std::size_t i = first.size(); i <= rows.size(); i += 500) { // painted in between
            grown.scatter.setRows({ rows.begin(), rows.begin() + std::ptrdiff_t(i) }, false);
            grown.picture();
        }
        whole.scatter.setRows(rows, false);
        for (Shown *shown : { &grown, &whole })
            shown->scatter.setMarks(0, 3, frontOf(rows, {}));
        QCOMPARE(grown.scatter.points(), std::size_t(20'000));
        QCOMPARE(grown.picture(), whole.picture());
    }

    void everyPointIsFoundWhereItIsDrawn()
    {
        std::vector<SearchRow> rows = cloud(60);
        Shown shown;
        shown.scatter.setRows(rows, true);
        shown.scatter.showAll();
        int found = 0;
        for (int i = 0; i < 60; ++i) {
            const auto at = shown.scatter.positionOf(i);
            QVERIFY(at);
            const int row = shown.scatter.nearest(*at);
            QVERIFY(row >= 0);
            const auto there = shown.scatter.positionOf(row);
            QVERIFY(std::hypot(there->x() - at->x(), there->y() - at->y()) <= 10);
            found += row == i;
        }
        QVERIFY(found > 45); // the others lie under a neighbour that matters more
        QCOMPARE(shown.scatter.nearest({ 5, 5 }), -1);
    }

    void arrowKeysGoAlongTheFrontAndEnterTries()
    {
        const std::vector<SearchRow> rows = cloud(200);
        const std::vector<std::size_t> front = frontOf(rows, {});
        QVERIFY(front.size() > 2);
        Shown shown;
        shown.scatter.setRows(rows, true);
        shown.scatter.setMarks({}, front.back(), front);
        QSignalSpy chosen(&shown.scatter, &SearchScatter::rowChosen);
        QSignalSpy tried(&shown.scatter, &SearchScatter::rowActivated);
        for (std::size_t i = 0; i < 2; ++i)
            QTest::keyClick(&shown.scatter, Qt::Key_Right);
        QCOMPARE(shown.scatter.current(), int(front[1]));
        QTest::keyClick(&shown.scatter, Qt::Key_Left);
        QCOMPARE(shown.scatter.current(), int(front[0]));
        QTest::keyClick(&shown.scatter, Qt::Key_Return);
        QCOMPARE(chosen.count(), 3);
        QCOMPARE(tried.takeFirst().at(0).toInt(), int(front[0]));
    }

    void theWheelZoomsAtThePointerAndFFits()
    {
        const std::vector<SearchRow> rows = cloud(200);
        Shown shown;
        shown.scatter.setRows(rows, true);
        shown.scatter.showAll();
        const auto before = *shown.scatter.positionOf(1), other = *shown.scatter.positionOf(2);
        QWheelEvent wheel(before, shown.scatter.mapToGlobal(before), {}, { 0, 240 }, Qt::NoButton, Qt::NoModifier,
            Qt::NoScrollPhase, false);
        QApplication::sendEvent(&shown.scatter, &wheel);
        const auto after = *shown.scatter.positionOf(1);
        QVERIFY(std::hypot(after.x() - before.x(), after.y() - before.y()) < 0.5);
        if (const auto now = shown.scatter.positionOf(2))
            QVERIFY(std::hypot(now->x() - after.x(), now->y() - after.y())
                > std::hypot(other.x() - before.x(), other.y() - before.y()));
        QTest::keyClick(&shown.scatter, Qt::Key_F);
        for (int i = 1; i < 200; ++i)
            QVERIFY(i % 4 == 0 || shown.scatter.positionOf(i)); // what has a price is in sight again
    }

    void aPicturesVectorsHaveEveryMark()
    {
        Shown shown;
        shown.scatter.setRows(cloud(40), true);
        shown.scatter.showAll();
        const QImage drawn = drawnVectors(shown.scatter);
        for (int i = 0; i < 40; ++i) {
            const auto at = shown.scatter.positionOf(i);
            QVERIFY(at);
            QVERIFY2(isMarked(drawn, at->toPoint()), qPrintable(QString::number(i)));
        }
        QVERIFY(!isMarked(drawn, { 130, 120 })); // where no candidate and no line is
        QCOMPARE(shown.scatter.toTsv().count(u'\n'), 41);
    }

    void withoutCandidatesItSaysWhy()
    {
        Shown shown;
        const QImage blank = shown.picture();
        shown.scatter.setEmptyText(QStringLiteral("The first candidates are on their way"));
        QVERIFY(shown.picture() != blank);
    }
};

TRAINYARD_TEST(SearchScatterTest)
#include "tst_search_scatter.moc"
