#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A cluster map with a plan in it, and verbs for what a hand does to it: real mouse and key events, and what the map
// says of them.

#include "tests/support/told.h"
#include "tests/views/cluster/map_fixtures.h"
#include "views/cluster/cluster_map.h"
#include "views/cluster/map_selection.h"

#include <QApplication>
#include <QTest>
#include <QWheelEvent>

namespace trainyard::testing {

enum Island { Oregon, Iowa, Virginia };

/// A map with a plan in it, and verbs for what a hand does.
struct Hand {
    explicit Hand(const Plan &start, QSize size = { 956, 290 })
        : plan(std::make_shared<const Plan>(start))
    {
        map.resize(size);
        map.setShown(shownOf(plan));
        map.setShown(test::told(plan, dealt(plan, 11.84)));
        map.show();
        (void)QTest::qWaitForWindowExposed(&map);
        QObject::connect(&map, &ClusterMap::editPreviewed, &map, [this](const PlanPtr &next, const QString &text) {
            previews.push_back(next);
            words = text;
        });
        QObject::connect(&map, &ClusterMap::editCommitted, &map, [this](const PlanPtr &next, const QString &text) {
            commits.push_back(next);
            words = text;
        });
        QObject::connect(&map, &ClusterMap::editCancelled, &map, [this] { ++cancels; });
    }

    [[nodiscard]] QPoint gpu(int island, int number, int pool = 0) const
    {
        return gpuRect(map.mapLayout(), island, pool, number).center().toPoint();
    }
    [[nodiscard]] QPoint node(int island, int number) const
    {
        return nodeRect(map.mapLayout(), island, 0, number).topLeft().toPoint();
    }
    [[nodiscard]] QPoint on(int island) const
    {
        const QRectF frame = map.mapLayout().islands[std::size_t(island)].frame;
        return QPointF(frame.center().x(), frame.bottom() - 5).toPoint();
    }
    [[nodiscard]] QPoint sea() const { return { 4, map.height() - 4 }; }

    void press(QPoint at, Qt::KeyboardModifiers modifiers = {})
    {
        QTest::mousePress(&map, Qt::LeftButton, modifiers, at);
        last = at;
    }
    void moveTo(QPoint at)
    {
        QTest::mouseMove(&map, (last + at) / 2);
        QTest::mouseMove(&map, at);
        last = at;
    }
    void release() { QTest::mouseRelease(&map, Qt::LeftButton, {}, last); }
    /// Notches of the wheel at a place; positive ones away from the hand.
    void wheel(QPoint at, int notches, Qt::KeyboardModifiers modifiers = {})
    {
        QWheelEvent event(
            at, map.mapToGlobal(at), {}, QPoint(0, 120 * notches), Qt::NoButton, modifiers, Qt::NoScrollPhase, false);
        QApplication::sendEvent(&map, &event);
    }
    /// From press to release over many small moves, as a hand does.
    void drag(QPoint from, QPoint to, Qt::MouseButton button = Qt::LeftButton)
    {
        QTest::mousePress(&map, button, {}, from);
        for (int step = 1; step <= 10; ++step) {
            const QPointF at = QPointF(from) + QPointF(to - from) * step / 10;
            QMouseEvent move(QEvent::MouseMove, at, map.mapToGlobal(at), Qt::NoButton, button, {});
            QApplication::sendEvent(&map, &move);
        }
        QTest::mouseRelease(&map, button, {}, to);
    }
    [[nodiscard]] QRectF frame(int island) const { return map.mapLayout().islands[std::size_t(island)].frame; }
    void key(Qt::Key k, int times = 1)
    {
        for (int i = 0; i < times; ++i)
            QTest::keyClick(&map, k);
    }
    [[nodiscard]] static std::vector<int> gpusOf(const PlanPtr &p)
    {
        std::vector<int> gpus;
        for (const Datacenter &d : p->cluster.datacenters)
            gpus.push_back(d.gpus());
        return gpus;
    }

    PlanPtr plan;
    ClusterMap map;
    std::vector<PlanPtr> previews, commits;
    QString words;
    int cancels = 0;
    QPoint last;
};

} // namespace trainyard::testing
