// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/run/roofline_section.h"

#include "models/validation/text_table_model.h"
#include "views/panels/evidence_table.h"
#include "views/panels/source_mark.h"
#include "views/parts/panel_parts.h"
#include "views/run/roofline_plot.h"
#include "views/run/roofline_rows.h"
#include "views/theme/theme.h"

#include <QHBoxLayout>
#include <QItemSelectionModel>
#include <QPainter>
#include <QPushButton>
#include <QVBoxLayout>

#include <set>
#include <utility>

namespace trainyard {

namespace {

constexpr int kOperatorColumn = 1; // takes what room is left
constexpr int kPlotHeight = 260, kRowsHeight = 260;
constexpr int kLegendMark = 10, kLegendGap = 5, kLegendSpace = 16; // pixels

/// The marks of the kinds with their names, on one line.
class KindLegend : public QWidget {
public:
    explicit KindLegend(QWidget *parent)
        : QWidget(parent)
    {
        setFont(uiFont(-1));
        setFixedHeight(fontMetrics().height() + 4);
    }
    void setKinds(const std::set<OperationKind> &kinds)
    {
        m_kinds = kinds;
        update();
    }

protected:
    void paintEvent(QPaintEvent *) override
    {
        QPainter painter(this);
        painter.setRenderHint(QPainter::Antialiasing);
        int x = 0;
        for (const OperationKind kind : m_kinds) {
            const QString text = kindText(kind);
            paintMark(
                painter, QPointF(x + kLegendMark / 2.0, height() / 2.0), kLegendMark, sourceMark(int(kind)), false);
            painter.setPen(theme().textMuted);
            const QRect place(x + kLegendMark + kLegendGap, 0, fontMetrics().horizontalAdvance(text) + 1, height());
            painter.drawText(place, Qt::AlignLeft | Qt::AlignVCenter, text);
            x = place.right() + kLegendSpace;
        }
    }

private:
    std::set<OperationKind> m_kinds;
};

} // namespace

RooflineSection::RooflineSection(QWidget *parent)
    : QWidget(parent)
    , plot(new RooflinePlot(this))
    , table(new EvidenceTable(tr("Roofline by shape"), kOperatorColumn, this))
    , readHost(new QPushButton(tr("Read operators of the host"), this))
    , m_title(new SectionTitle(tr("Roofline by shape"), tr("operators and the sizes of their tensors"), this))
    , m_summary(new TextLine({}, Ink::Muted, this))
    , m_legend(new KindLegend(this))
    , m_model(new TextTableModel(this))
{
    table->setModel(m_model);
    table->setSelectionMode(QAbstractItemView::SingleSelection);
    readHost->setToolTip(
        tr("Reads the traces again and keeps what the host did. It takes memory for each of its events."));
    arrange();
    connect(readHost, &QPushButton::clicked, this, &RooflineSection::hostAsked);
    connect(plot, &PointPlot::pointChosen, this, &RooflineSection::select);
    connect(table->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
        [this](const QModelIndex &row) { plot->setCurrent(row.isValid() ? row.row() : -1); });
    setRoofline(nullptr);
}

void RooflineSection::arrange()
{
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(6);
    m_summary->setWrapped(true);
    column->addWidget(m_title);
    column->addWidget(m_summary);
    column->addWidget(readHost, 0, Qt::AlignLeft);
    column->addWidget(m_legend);
    column->addWidget(plot);
    column->addWidget(table);
    plot->setFixedHeight(kPlotHeight);
    table->setFixedHeight(kRowsHeight);
}

void RooflineSection::setRoofline(std::shared_ptr<const Roofline> roofline)
{
    m_roofline = std::move(roofline);
    const bool hasRows = m_roofline && !m_roofline->rows.empty();
    m_summary->setText(m_roofline ? rooflineSummary(*m_roofline) : QString());
    setVisible(m_roofline && m_roofline->lack != RooflineLack::Kernels);
    readHost->setVisible(m_roofline && m_roofline->lack == RooflineLack::Host);
    m_model->setTable(hasRows ? rooflineRows(*m_roofline) : TextRows());
    plot->setRoofline(hasRows ? m_roofline : nullptr);
    table->setVisible(hasRows);
    const bool hasMarks = !plot->points().empty();
    plot->setVisible(hasMarks);
    std::set<OperationKind> kinds;
    for (const int row : plot->points())
        kinds.insert(m_roofline->rows[std::size_t(row)].work.kind);
    static_cast<KindLegend *>(m_legend)->setKinds(kinds);
    m_legend->setVisible(hasMarks);
}

QString RooflineSection::summary() const
{
    return m_summary->text();
}

void RooflineSection::select(int row)
{
    const QModelIndex index = m_model->index(row, 0);
    table->setCurrentIndex(index);
    table->scrollTo(index);
}

} // namespace trainyard
