// SPDX-License-Identifier: GPL-3.0-or-later
// How the panels share the workbench: the usual way, by a named arrangement, and as it was left.
#include "views/cluster/cluster_map.h"
#include "views/details/details_panel.h"
#include "views/panels/card.h"
#include "views/panels/datacenter_panel.h"
#include "views/panels/edits_panel.h"
#include "views/panels/gpu_shares_panel.h"
#include "views/panels/jobs_panel.h"
#include "views/panels/memory_details.h"
#include "views/panels/problems_panel.h"
#include "views/panels/strategy_panel.h"
#include "views/panels/why_panel.h"
#include "views/panels/workload_editor.h"
#include "views/plots/curves_panel.h"
#include "views/timeline/timeline_view.h"
#include "views/window/workbench.h"

#include <QApplication>
#include <QDataStream>
#include <QIODevice>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSplitter>
#include <QVBoxLayout>

#include <algorithm>
#include <numeric>

namespace trainyard {

namespace {

constexpr int kRightLeast = 350, kRightMost = 620;
constexpr double kRightShare = 0.32, kRightMostShare = 0.42; // of the window
constexpr double kUsualDpi = 96;
constexpr int kChartsWanted = 146; // pixels, for three labels on a y axis below the tabs
constexpr double kShareOfShown = 0.32; // of a part that was hidden

int extentOf(const QSplitter &splitter)
{
    const int room = splitter.orientation() == Qt::Horizontal ? splitter.width() : splitter.height();
    return std::max(room, 1);
}

/// 0 for what is hidden; those that are shown add up to 1.
std::vector<double> sharesOf(const QSplitter &splitter)
{
    const QList<int> sizes = splitter.sizes();
    std::vector<double> shares;
    int sum = 0;
    for (int i = 0; i < splitter.count(); ++i)
        sum += splitter.widget(i)->isHidden() ? 0 : sizes[i];
    for (int i = 0; i < splitter.count(); ++i)
        shares.push_back(splitter.widget(i)->isHidden() || sum == 0 ? 0 : double(sizes[i]) / sum);
    return shares;
}

void setShares(QSplitter &splitter, const std::vector<double> &shares)
{
    const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
    QList<int> sizes;
    for (const double share : shares)
        sizes << (sum > 0 ? int(extentOf(splitter) * share / sum) : 0);
    splitter.setSizes(sizes);
}

/// Gives a part that was hidden its share of the others'.
void showPart(QSplitter &splitter, int part)
{
    if (!splitter.widget(part)->isHidden())
        return;
    std::vector<double> shares = sharesOf(splitter);
    const bool isAlone = std::accumulate(shares.begin(), shares.end(), 0.0) == 0;
    for (double &share : shares)
        share *= 1 - kShareOfShown;
    shares[std::size_t(part)] = isAlone ? 1 : kShareOfShown;
    splitter.widget(part)->show();
    splitter.refresh();
    setShares(splitter, shares);
}

} // namespace

std::vector<std::pair<QString, QWidget *>> Workbench::tabbedPanels() const
{
    return { { QStringLiteral("strategies"), strategies }, { QStringLiteral("workload"), workload },
        { QStringLiteral("jobs"), jobs }, { QStringLiteral("datacenters"), datacenters },
        { QStringLiteral("shares"), shares }, { QStringLiteral("why"), why }, { QStringLiteral("problems"), problems },
        { QStringLiteral("memory"), memory }, { QStringLiteral("details"), details },
        { QStringLiteral("edits"), edits } };
}

void Workbench::showTab(const QString &name)
{
    for (const auto &[known, panel] : tabbedPanels())
        if (known == name)
            for (TabbedCard *card : { m_upper, m_lower })
                for (QWidget *area = panel; area && area != card; area = area->parentWidget())
                    card->setCurrent(area);
}

QString Workbench::tabInFront(const TabbedCard *card) const
{
    for (const auto &[name, panel] : tabbedPanels())
        if (card->current() == panel || card->current()->isAncestorOf(panel))
            return name;
    return {};
}

void Workbench::hideParts(const Arrangement &arrangement)
{
    for (int i = 0; i < 3; ++i) {
        m_isHidden[std::size_t(i)] = arrangement.rows[std::size_t(i)] == 0;
        m_left->widget(i)->setHidden(m_isHidden[std::size_t(i)]);
    }
    for (int i = 0; i < 2; ++i)
        m_right->widget(i)->setHidden(arrangement.sides[std::size_t(i)] == 0);
    m_right->setHidden(arrangement.sides[0] == 0 && arrangement.sides[1] == 0);
    for (QSplitter *splitter : { m_left, m_right, m_columns }) // a splitter that was empty had no room at all
        splitter->refresh();
}

Arrangement Workbench::arrangement() const
{
    curves->setEnlarged(false); // what is beside it is not hidden for good
    Arrangement now;
    const std::vector<double> columns = sharesOf(*m_columns), rows = sharesOf(*m_left), sides = sharesOf(*m_right);
    if (columns[0] > 0)
        now.left = columns[0];
    if (std::ranges::any_of(rows, [](double share) { return share > 0; }))
        std::ranges::copy(rows, now.rows.begin());
    if (m_right->isHidden())
        now.sides = { 0, 0 };
    else if (std::ranges::any_of(sides, [](double share) { return share > 0; }))
        std::ranges::copy(sides, now.sides.begin());
    now.upper = tabInFront(m_upper);
    now.lower = tabInFront(m_lower);
    return now;
}

void Workbench::setArrangement(const Arrangement &arrangement)
{
    curves->setEnlarged(false);
    const QWidget *focused = QApplication::focusWidget();
    hideParts(arrangement);
    if (focused && isAncestorOf(focused) && !focused->isVisible())
        timeline->setFocus(Qt::OtherFocusReason); // not on whatever comes next
    if (!m_right->isHidden()) {
        const int right =
            std::clamp(int(width() * (1 - arrangement.left)), kRightLeast, std::max(kRightLeast, width() / 2));
        m_columns->setSizes({ width() - right, right });
        setShares(*m_right, { arrangement.sides.begin(), arrangement.sides.end() });
    }
    setShares(*m_left, { arrangement.rows.begin(), arrangement.rows.end() });
    showTab(arrangement.upper);
    showTab(arrangement.lower);
    m_isArranged = true;
}

void Workbench::bringOut(const QWidget *panel)
{
    for (int i = 0; i < m_left->count(); ++i)
        if (m_left->widget(i)->isAncestorOf(panel) && m_isHidden[std::size_t(i)]) {
            m_isHidden[std::size_t(i)] = false;
            showPart(*m_left, i);
        }
    for (int i = 0; i < m_right->count(); ++i) {
        if (!m_right->widget(i)->isAncestorOf(panel))
            continue;
        showPart(*m_right, i); // first: an empty column would get no room
        showPart(*m_columns, 1);
    }
}

void Workbench::resetLayout()
{
    curves->setEnlarged(false);
    hideParts({});
    const double letters = std::max(1.0, logicalDpiX() / kUsualDpi); // larger ones need wider panels
    const int right = std::clamp(
        int(width() * std::min(kRightShare * letters, kRightMostShare)), kRightLeast, int(kRightMost * letters));
    m_columns->setSizes({ width() - right, right });
    const int height = m_columns->height();
    const int charts = std::max(height * 22 / 100, std::min(kChartsWanted, height * 26 / 100));
    m_left->setSizes({ (height - charts) * 48 / 100, (height - charts) * 52 / 100, charts });
    m_right->setSizes({ height * 60 / 100, height * 40 / 100 });
}

QByteArray Workbench::layoutState() const
{
    const Arrangement now = arrangement(); // first: enlarged charts give way
    QByteArray state;
    QDataStream out(&state, QIODevice::WriteOnly);
    out << m_columns->saveState() << m_left->saveState() << m_right->saveState() << size()
        << QJsonDocument(toJson(now)).toJson(QJsonDocument::Compact);
    return state;
}

void Workbench::restoreLayout(const QByteArray &state)
{
    QByteArray columns, left, right, arranged;
    QSize was;
    QDataStream in(state);
    in >> columns >> left >> right >> was;
    if (in.status() != QDataStream::Ok || columns.isEmpty())
        return;
    if (!in.atEnd()) // earlier versions hid nothing
        in >> arranged;
    const auto arrangement = arrangementFrom(QJsonDocument::fromJson(arranged).object());
    hideParts(arrangement.value_or(Arrangement()));
    m_columns->restoreState(columns);
    m_left->restoreState(left);
    m_right->restoreState(right);
    if (arrangement) {
        showTab(arrangement->upper);
        showTab(arrangement->lower);
    }
    m_isArranged = true;
}

void Workbench::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    if (std::exchange(m_isArranged, true))
        return;
    layout()->activate();
    resetLayout();
    map->setFocus(Qt::OtherFocusReason);
}

} // namespace trainyard
