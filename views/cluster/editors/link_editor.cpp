// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/cluster/editors/link_editor.h"

#include "core/catalogue/catalogue.h"
#include "models/text/source_words.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QFormLayout>
#include <QLabel>

namespace trainyard {

namespace {

constexpr int kMostLabel = 200;            // of a direction's name, in pixels

} // namespace

LinkEditor::LinkEditor(const QString &title, WanLink link, const std::array<QString, 2> &names, const QString &note, QWidget *parent)
    : FormPopover(title, parent)
    , m_before(std::move(link))
    , m_note(note)
{
    addFields(names);
    startAt(m_rtt);
    check();
}

LinkEditor::LinkEditor(Cluster cluster, int from, int to, QWidget *parent)
    : FormPopover(tr("Add WAN link"), parent)
    , m_cluster(std::move(cluster))
{
    for (std::size_t i = 0; i < 2; ++i) {
        m_ends[i] = new QComboBox(this);
        m_ends[i]->setAccessibleName(i == 0 ? QStringLiteral("From") : QStringLiteral("To"));
        for (const Datacenter &datacenter : m_cluster->datacenters)
            m_ends[i]->addItem(QString::fromStdString(datacenter.label()));
        m_ends[i]->setCurrentIndex(i == 0 ? from : to);
        form().addRow(m_ends[i]->accessibleName(), m_ends[i]);
    }
    const SuggestedLink suggested = suggestLink(*m_cluster, from, to, builtinCatalogue());
    m_before = suggested.link;
    m_note = suggested.source;
    addFields(endNames());
    for (QComboBox *end : m_ends)
        connect(end, &QComboBox::currentIndexChanged, this, &LinkEditor::suggest);
    setDoneText(tr("Add"));
    startAt(m_ends[1]);
    check();
}

std::array<QString, 2> LinkEditor::endNames() const
{
    return {m_ends[0]->currentText(), m_ends[1]->currentText()};
}

/// Two other datacenters: the round trip between them is another one, all else stays as it was typed.
void LinkEditor::suggest()
{
    const int from = m_ends[0]->currentIndex(), to = m_ends[1]->currentIndex();
    const SuggestedLink suggested = suggestLink(*m_cluster, from, to, builtinCatalogue());
    m_before.between = suggested.link.between;
    m_note = suggested.source;
    const auto names = endNames();
    for (std::size_t i = 0; i < 2; ++i)
        nameDirection(i, names);
    if (from != to)
        setNumber(*m_rtt, suggested.link.rttMs);
    check();
}

void LinkEditor::nameDirection(std::size_t direction, const std::array<QString, 2> &names)
{
    const QString name = QStringLiteral("%1 → %2").arg(names[direction], names[1 - direction]);
    m_prices[direction]->setAccessibleName(name);
    if (auto *label = qobject_cast<QLabel *>(form().labelForField(m_prices[direction])))
        label->setText(label->fontMetrics().elidedText(name, Qt::ElideMiddle, kMostLabel));
}

void LinkEditor::addFields(const std::array<QString, 2> &names)
{
    // As far as a plan file goes, so that no editor shortens what a plan states.
    m_rtt = addNumber(QStringLiteral("Round trip"), m_before.rttMs, 0, 1e6, 2, QStringLiteral(" ms"));
    m_capacity = addNumber(QStringLiteral("Capacity, each way"), m_before.capacityGbps, 0, 1e12, 1, QStringLiteral(" Gbps"));
    m_nodePair = addNumber(QStringLiteral("Per node pair"), m_before.nodePairGbps, 0, 1e12, 2, QStringLiteral(" Gbps"));
    m_window = addNumber(QStringLiteral("TCP window per connection"), m_before.tcpWindowMb, 0, 1e12, 2, QStringLiteral(" MB"));
    addCloud();
    m_loss = addNumber(QStringLiteral("Packet loss"), m_before.lossRate * 100, 0, 50, 4, QStringLiteral(" %"));
    m_rtt->setToolTip(QStringLiteral("There and back. Dragging a datacenter on the map sets it by distance."));
    m_nodePair->setToolTip(QStringLiteral("What a provider lets two machines exchange, each way, however many connections they open."));
    m_window->setToolTip(QStringLiteral("Bytes that one connection has under way: it sends at most one window per round trip."));
    m_loss->setToolTip(QStringLiteral("CUBIC slows down at every loss; the strategy panel has BBR, which does not."));
    m_priced = new QCheckBox(QStringLiteral("Own egress price"), this);
    form().addRow(QString(), m_priced);
    const auto prices = m_before.usdPerGb.value_or(std::array<double, 2>{0.02, 0.02});
    for (std::size_t i = 0; i < 2; ++i) {
        m_prices[i] = addNumber(QStringLiteral("%1 → %2").arg(names[i], names[1 - i]), prices[i], 0, 1e3, 4, QStringLiteral(" $/GB"));
        nameDirection(i, names);
    }
    m_priced->setChecked(m_before.usdPerGb.has_value());
    for (QDoubleSpinBox *box : {m_rtt, m_capacity, m_nodePair, m_window})
        connect(box, &QDoubleSpinBox::valueChanged, this, &LinkEditor::check);
    connect(m_priced, &QCheckBox::toggled, this, &LinkEditor::check);
}

void LinkEditor::addCloud()
{
    m_cloud = new QComboBox(this);
    m_cloud->setAccessibleName(QStringLiteral("TCP window preset"));
    m_cloud->setToolTip(QStringLiteral("A provider whose measured window takes the place of the one above."));
    m_cloud->addItem(QStringLiteral("custom"));
    for (const Cloud &cloud : builtinCatalogue().clouds) {
        m_cloud->addItem(QStringLiteral("%1: %2 MB").arg(QString::fromStdString(cloud.name)).arg(cloud.tcpWindowMb, 0, 'g', 3), QString::fromStdString(cloud.id));
        m_cloud->setItemData(m_cloud->count() - 1, sourceInWords(cloud.source), Qt::ToolTipRole);
    }
    const QString now = QString::fromStdString(m_before.cloud);
    if (!now.isEmpty() && m_cloud->findData(now) < 0)
        m_cloud->addItem(now, now);        // one that the catalogue does not know, kept until another is chosen
    m_cloud->setCurrentIndex(now.isEmpty() ? 0 : m_cloud->findData(now));
    form().addRow(QStringLiteral("TCP window preset"), m_cloud);
    connect(m_cloud, &QComboBox::currentIndexChanged, this, &LinkEditor::check);
}

WanLink LinkEditor::link() const
{
    WanLink next = m_before;
    next.rttMs = number(*m_rtt);
    next.capacityGbps = number(*m_capacity);
    next.nodePairGbps = number(*m_nodePair);
    next.tcpWindowMb = number(*m_window);
    next.cloud = m_cloud->currentData().toString().toStdString();
    next.lossRate = number(*m_loss) == m_before.lossRate * 100 ? m_before.lossRate : number(*m_loss) / 100;
    next.usdPerGb = m_priced->isChecked() ? std::optional(std::array{number(*m_prices[0]), number(*m_prices[1])}) : std::nullopt;
    return next;
}

void LinkEditor::check()
{
    for (QDoubleSpinBox *price : m_prices)
        price->setEnabled(m_priced->isChecked());
    m_window->setEnabled(m_cloud->currentIndex() == 0);
    const bool isLinked = m_cluster && m_cluster->linkBetween(m_before.between[0], m_before.between[1]) >= 0;
    if (m_before.between[0] == m_before.between[1] && m_cluster)
        setFault(QStringLiteral("A link joins two datacenters: choose another one."));
    else if (isLinked)
        setFault(QStringLiteral("%1 and %2 are linked already.").arg(endNames()[0], endNames()[1]));
    else if (number(*m_rtt) <= 0)
        setFault(QStringLiteral("How long is the round trip? It must be more than 0 ms."));
    else if (number(*m_capacity) <= 0 || number(*m_nodePair) <= 0 || number(*m_window) <= 0)
        setFault(QStringLiteral("Capacity, node pair and window must be more than 0."));
    else
        setNote(m_note);
}

} // namespace trainyard
