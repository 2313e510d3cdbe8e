// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/run/profile_card.h"

#include "models/text/format.h"
#include "views/panels/evidence_table.h"
#include "views/parts/panel_parts.h"
#include "views/run/profile_rows.h"
#include "views/run/roofline_section.h"
#include "views/theme/theme.h"

#include <QVBoxLayout>

namespace trainyard {

namespace {

constexpr int kPathKernel = 4, kIdleOther = 6, kQueueMost = 5, kKernelName = 5; // columns that take what room is left
constexpr int kTableHeight = 190, kKernelsHeight = 320;

} // namespace

ProfileCard::ProfileCard(RunProfile &profile, QWidget *parent)
    : QWidget(parent)
    , path(new EvidenceTable(tr("What the step waited for"), kPathKernel, this))
    , idle(new EvidenceTable(tr("Idle by cause"), kIdleOther, this))
    , queue(new EvidenceTable(tr("Launch queue"), kQueueMost, this))
    , kernels(new EvidenceTable(tr("Kernels"), kKernelName, this))
    , roofline(new RooflineSection(this))
    , m_profile(profile)
    , m_summary(new TextLine({}, Ink::Muted, this))
    , m_pathTitle(new SectionTitle(tr("What the step waited for"), tr("critical path"), this))
    , m_idleTitle(new SectionTitle(tr("Idle by cause"), tr("all that was recorded"), this))
    , m_queueTitle(new SectionTitle(tr("Launch queue"), tr("launched and not started, over time"), this))
    , m_kernelTitle(new SectionTitle(tr("Kernels"), tr("by name and shape"), this))
{
    setAccessibleName(tr("Kernels of the run"));
    for (EvidenceTable *table : { path, idle, queue, kernels })
        table->setModel(new TextTableModel(table));
    arrange();
    connect(&profile, &RunProfile::changed, this, &ProfileCard::refresh);
    connect(roofline, &RooflineSection::hostAsked, this, [this] { m_profile.runs().setKeepsHost(true); });
    refresh();
}

void ProfileCard::arrange()
{
    auto *column = panelLayout(this);
    column->setSpacing(6);
    m_summary->setWrapped(true);
    column->addWidget(m_summary);
    const std::pair<SectionTitle *, EvidenceTable *> parts[] = { { m_pathTitle, path }, { m_idleTitle, idle },
        { m_queueTitle, queue }, { m_kernelTitle, kernels } };
    for (const auto &[title, table] : parts) {
        column->addWidget(title);
        column->addWidget(table);
        table->setFixedHeight(table == kernels ? kKernelsHeight : kTableHeight);
    }
    column->addWidget(roofline);
    column->addStretch(1);
}

QString ProfileCard::summary() const
{
    return m_summary->text();
}

QString ProfileCard::summaryText() const
{
    const ProfilePtr &profile = m_profile.shown();
    if (m_profile.runs().isLive())
        return tr("The run goes on: kernels are counted when it is over.");
    if (!profile)
        return m_profile.isMaking() ? tr("Counting kernels…") : QString();
    if (profile->kernels.rows.empty())
        return tr("No file of the run shows kernels of a GPU.");
    QString text =
        tr("%1 of GPUs on %2, %3 in all.")
            .arg(countOf(qint64(profile->kernels.rows.size()), tr("kernel"), tr("kernels")),
                countOf(profile->kernels.ranks, tr("rank"), tr("ranks")), formatSeconds(profile->kernels.total * 1e-9));
    if (profile->differences)
        text += u' '
            + tr("Beside the reference, of one step of one rank: %1 → %2.")
                  .arg(formatSeconds(profile->differences->before * 1e-9),
                      formatSeconds(profile->differences->after * 1e-9));
    return text;
}

void ProfileCard::fill(EvidenceTable &table, QWidget &title, const TextRows &rows)
{
    static_cast<TextTableModel *>(table.model())->setTable(rows);
    table.setVisible(!rows.lines.empty());
    title.setVisible(!rows.lines.empty());
}

void ProfileCard::refresh()
{
    m_summary->setText(summaryText());
    const ProfilePtr &profile = m_profile.shown();
    if (profile == m_shown && profile)
        return;
    m_shown = profile;
    fill(*path, *m_pathTitle, profile ? pathRows(*profile) : TextRows());
    fill(*idle, *m_idleTitle, profile ? idleRows(*profile) : TextRows());
    fill(*queue, *m_queueTitle, profile ? queueRows(*profile) : TextRows());
    fill(*kernels, *m_kernelTitle, profile ? kernelRows(*profile) : TextRows());
    roofline->setRoofline(profile ? std::shared_ptr<const Roofline>(profile, &profile->roofline) : nullptr);
}

void ProfileCard::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    m_profile.setSeen(this, true);
    refresh();
}

void ProfileCard::hideEvent(QHideEvent *event)
{
    QWidget::hideEvent(event);
    m_profile.setSeen(this, false);
}

} // namespace trainyard
