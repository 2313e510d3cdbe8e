// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/run/verdict_section.h"

#include "core/base/words.h"
#include "models/text/format.h"
#include "views/parts/panel_parts.h"
#include "views/run/run_words.h"
#include "views/run/sentence_list.h"
#include "views/theme/theme.h"

#include <QVBoxLayout>

#include <cmath>

namespace trainyard {

namespace {

constexpr int kMostParts = 4;
constexpr double kLeastPartShare = 0.01; // of the step: smaller differences are in the table

/// "Exposed all-reduce: +118 ms (412 → 530 ms; timer grads-all-reduce)".
QString partText(const VerdictPart &part)
{
    const QString name = QString::fromStdString(capitalised(part.what));
    const QString seconds = VerdictSection::tr("%1: %2 (%3 predicted, %4 measured")
                                .arg(name, signedSeconds(part.measured - part.predicted), secondsText(part.predicted),
                                    secondsText(part.measured));
    return part.evidence.empty() ? seconds + u')'
                                 : seconds + QStringLiteral("; %1)").arg(QString::fromStdString(part.evidence));
}

/// "Optimizer: −1.20 GB (26.2 GB predicted, 25.0 GB measured; …)".
QString bytesOf(const VerdictPart &part)
{
    const QString name = QString::fromStdString(capitalised(part.what));
    const double more = part.measured - part.predicted;
    const QString bytes = (more < 0 ? QStringLiteral("−") : QStringLiteral("+")) + formatBytes(std::abs(more));
    return VerdictSection::tr("%1: %2 (%3 predicted, %4 measured; %5)")
        .arg(name, bytes, formatBytes(part.predicted), formatBytes(part.measured),
            QString::fromStdString(part.evidence));
}

TextLine *smallTitle(const QString &text, QWidget *parent)
{
    auto *line = new TextLine(text, Ink::Faint, parent);
    line->setFont(uiFont(-1));
    return line;
}

} // namespace

VerdictSection::VerdictSection(QWidget *parent)
    : QWidget(parent)
    , parts(new SentenceList(Ink::Text))
    , memory(new SentenceList(Ink::Text))
    , causes(new SentenceList(Ink::Muted))
    , doubts(new SentenceList(Ink::Muted))
    , m_headline(new TextLine({}, Ink::Text, this))
    , m_memoryTitle(smallTitle({}, this))
    , m_causesTitle(smallTitle(tr("Typical causes"), this))
    , m_doubtsTitle(smallTitle(tr("In doubt"), this))
{
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(4);
    column->addWidget(new SectionTitle(tr("Verdict"), {}, this));
    m_headline->setWrapped(true);
    m_headline->setFont(uiFont(1, QFont::DemiBold));
    column->addWidget(m_headline);
    column->addWidget(parts);
    column->addWidget(m_memoryTitle);
    column->addWidget(memory);
    column->addWidget(m_causesTitle);
    column->addWidget(causes);
    column->addWidget(m_doubtsTitle);
    column->addWidget(doubts);
    hide();
}

QString VerdictSection::headline() const
{
    return m_headline->text();
}

/// The headline has been said where it is that of the whole verdict.
void VerdictSection::addMemory(
    const MemoryVerdict &found, bool isTimed, QStringList &held, QStringList &reasons, QStringList &open)
{
    m_memoryTitle->setText(tr("Memory of %1").arg(QString::fromStdString(found.of)));
    if (isTimed)
        held << sentenceOf(found.headline);
    for (const VerdictPart &part : found.parts)
        if (std::abs(part.measured - part.predicted) >= kLeastPartShare * found.measuredBytes)
            held << bytesOf(part);
    for (const std::string &cause : found.causes)
        reasons << tr("Memory: %1").arg(sentenceOf(cause));
    for (const std::string &doubt : found.doubts)
        open << tr("Memory: %1").arg(sentenceOf(doubt));
}

void VerdictSection::setVerdict(const std::shared_ptr<const Expected<RunVerdict>> &verdict)
{
    setVisible(verdict != nullptr);
    if (!verdict)
        return;
    QStringList told, held, reasons, open;
    if (*verdict) {
        const RunVerdict &found = **verdict;
        m_headline->setText(sentenceOf(found.headline));
        m_headline->setInk(Ink::Text);
        for (const VerdictPart &part : found.parts)
            if (told.size() < kMostParts
                && std::abs(part.measured - part.predicted) >= kLeastPartShare * found.measuredSeconds)
                told << partText(part);
        for (const std::string &cause : found.causes)
            reasons << sentenceOf(cause);
        for (const std::string &doubt : found.doubts)
            open << sentenceOf(doubt);
        if (found.memory)
            addMemory(*found.memory, found.isTimed, held, reasons, open);
    } else {
        m_headline->setText(tr("No verdict: %1.").arg(QString::fromStdString(verdict->error().what)));
        m_headline->setInk(Ink::Muted);
    }
    parts->setSentences(told);
    memory->setSentences(held);
    m_memoryTitle->setVisible(!held.isEmpty());
    causes->setSentences(reasons);
    doubts->setSentences(open);
    m_causesTitle->setVisible(!reasons.isEmpty());
    m_doubtsTitle->setVisible(!open.isEmpty());
}

} // namespace trainyard
