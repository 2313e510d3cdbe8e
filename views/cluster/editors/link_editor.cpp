// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/cluster/editors/link_editor.h"

#include "core/facts/catalogue/catalogue.h"
#include "core/facts/catalogue/zone_network.h"
#include "models/text/source_words.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QFormLayout>
#include <QLabel>

namespace trainyard {

namespace {

constexpr int kMostLabel = 200; // of a direction's name, in pixels

} // namespace

struct LinkEditor::Adder : keys::PlainValues {
    LinkEditor &editor;
    const std::array<QString, 2> &names;

    Adder(LinkEditor &form, const std::array<QString, 2> &ends)
        : editor(form)
        , names(ends)
    {
    }
    void value(double WanLink::*member, const Key &key)
    {
        QDoubleSpinBox *box = editor.m_numbers[key.name] = editor.addNumber(member, editor.m_before);
        connect(box, &QDoubleSpinBox::valueChanged, &editor, &LinkEditor::check);
    }
    void value(std::string WanLink::*, const Key &key) { editor.addCloud(key); }
    void directions(const Key &key) { editor.addPrices(key, names); }
};

struct LinkEditor::Taker : keys::PlainValues {
    const LinkEditor &editor;
    WanLink &next;

    Taker(const LinkEditor &form, WanLink &link)
        : editor(form)
        , next(link)
    {
    }
    void value(double WanLink::*member, const Key &key)
    {
        const double shown = editor.number(*editor.m_numbers.at(key.name)), before = editor.m_before.*member;
        next.*member = shown == before * key.scale ? before : shown / key.scale;
    }
    void value(std::string WanLink::*member, const Key &)
    {
        next.*member = editor.m_cloud->currentData().toString().toStdString();
    }
    void directions(const Key &)
    {
        next.usdPerGb = editor.m_priced->isChecked()
            ? std::optional(std::array { editor.number(*editor.m_prices[0]), editor.number(*editor.m_prices[1]) })
            : std::nullopt;
    }
};

LinkEditor::LinkEditor(
    const QString &title, WanLink link, const std::array<QString, 2> &names, const QString &note, QWidget *parent)
    : FormPopover(title, parent)
    , m_before(std::move(link))
    , m_note(note)
{
    addFields(names);
    startAt(&field(&WanLink::rttMs));
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
    return { m_ends[0]->currentText(), m_ends[1]->currentText() };
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
        setNumber(field(&WanLink::rttMs), suggested.link.rttMs);
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
    Adder adder(*this, names);
    describe(adder, keys::Of<WanLink> {});
}

void LinkEditor::addPrices(const Key &key, const std::array<QString, 2> &names)
{
    m_priced = new QCheckBox(QString::fromUtf8(key.title), this);
    form().addRow(QString(), m_priced);
    const auto prices = m_before.usdPerGb.value_or(std::array<double, 2> { 0.02, 0.02 });
    for (std::size_t i = 0; i < 2; ++i) {
        m_prices[i] = addNumber(key, prices[i], false);
        nameDirection(i, names);
    }
    m_priced->setChecked(m_before.usdPerGb.has_value());
    connect(m_priced, &QCheckBox::toggled, this, &LinkEditor::check);
}

void LinkEditor::addCloud(const Key &key)
{
    const QString title = QString::fromUtf8(key.title);
    m_cloud = new QComboBox(this);
    m_cloud->setAccessibleName(title);
    m_cloud->setToolTip(QString::fromUtf8(key.help));
    m_cloud->addItem(QStringLiteral("custom"));
    for (const Cloud &cloud : builtinCatalogue().clouds) {
        m_cloud->addItem(
            QStringLiteral("%1: %2 MB%3")
                .arg(QString::fromStdString(cloud.name))
                .arg(cloud.tcpWindowMb, 0, 'g', 3)
                .arg(builtinZoneNetwork(cloud.id) ? QStringLiteral(", node pairs as measured") : QString()),
            QString::fromStdString(cloud.id));
        m_cloud->setItemData(m_cloud->count() - 1, sourceInWords(cloud.source), Qt::ToolTipRole);
    }
    const QString now = QString::fromStdString(m_before.cloud);
    if (!now.isEmpty() && m_cloud->findData(now) < 0)
        m_cloud->addItem(now, now); // one that the catalogue does not know, kept until another is chosen
    m_cloud->setCurrentIndex(now.isEmpty() ? 0 : m_cloud->findData(now));
    form().addRow(title, m_cloud);
    connect(m_cloud, &QComboBox::currentIndexChanged, this, &LinkEditor::check);
}

WanLink LinkEditor::link() const
{
    WanLink next = m_before;
    Taker taker(*this, next);
    describe(taker, keys::Of<WanLink> {});
    return next;
}

void LinkEditor::check()
{
    for (QDoubleSpinBox *price : m_prices)
        price->setEnabled(m_priced->isChecked());
    field(&WanLink::tcpWindowMb).setEnabled(m_cloud->currentIndex() == 0);
    const bool isLinked = m_cluster && m_cluster->linkBetween(m_before.between[0], m_before.between[1]) >= 0;
    if (m_before.between[0] == m_before.between[1] && m_cluster)
        setFault(QStringLiteral("A link joins two datacenters: choose another one."));
    else if (isLinked)
        setFault(QStringLiteral("%1 and %2 are linked already.").arg(endNames()[0], endNames()[1]));
    else if (number(field(&WanLink::rttMs)) <= 0)
        setFault(QStringLiteral("How long is the round trip? It must be more than 0 ms."));
    else if (number(field(&WanLink::capacityGbps)) <= 0 || number(field(&WanLink::nodePairGbps)) <= 0
        || number(field(&WanLink::tcpWindowMb)) <= 0)
        setFault(QStringLiteral("Capacity, node pair and window must be more than 0."));
    else
        setNote(m_note);
}

} // namespace trainyard
