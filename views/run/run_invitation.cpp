// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/run/run_invitation.h"

#include "views/parts/text_line.h"
#include "views/theme/theme.h"

#include <QGridLayout>
#include <QPainter>
#include <QPushButton>
#include <QVBoxLayout>

namespace trainyard {

namespace {

constexpr int kColumnWidth = 760, kNameWidth = 150, kEdge = 24;

struct Kind {
    const char *name, *files;
};
constexpr Kind kKinds[] = {
    { QT_TRANSLATE_NOOP("RunInvitation", "Profiler traces"),
        QT_TRANSLATE_NOOP("RunInvitation", "PyTorch (.json, .json.gz), one per rank; Chakra: every kernel of a step") },
    { QT_TRANSLATE_NOOP("RunInvitation", "Training logs"),
        QT_TRANSLATE_NOOP(
            "RunInvitation", "Megatron-LM, torchtitan, DeepSpeed, NeMo, Hugging Face, MLPerf; TensorBoard, wandb") },
    { QT_TRANSLATE_NOOP("RunInvitation", "Network and drives"),
        QT_TRANSLATE_NOOP("RunInvitation", "nccl-tests, NCCL Inspector, flight recorder, iperf3, fio") },
    { QT_TRANSLATE_NOOP("RunInvitation", "GPUs"),
        QT_TRANSLATE_NOOP("RunInvitation", "nvidia-smi and DCGM samples, Prometheus, OpenTelemetry") },
    { QT_TRANSLATE_NOOP("RunInvitation", "How it was started"),
        QT_TRANSLATE_NOOP(
            "RunInvitation", "config.json, arguments of Megatron and torchtitan; topologies of Slurm and NCCL") },
    { QT_TRANSLATE_NOOP("RunInvitation", "A recording"),
        QT_TRANSLATE_NOOP("RunInvitation", "*.trainyard-recording: all of these in one file, as saved here") },
};

TextLine *line(const QString &text, Ink ink, int size, QWidget *parent, QFont::Weight weight = QFont::Normal)
{
    auto *made = new TextLine(text, ink, parent);
    made->setFont(uiFont(size, weight));
    return made;
}

} // namespace

RunInvitation::RunInvitation(QWidget *parent)
    : QWidget(parent)
    , open(new QPushButton(tr("Open files…"), this))
    , openFolder(new QPushButton(tr("Open a folder…"), this))
{
    setAccessibleName(tr("No run is open"));
    auto *content = new QWidget(this);
    content->setFixedWidth(kColumnWidth);
    auto *column = new QVBoxLayout(content);
    column->setSpacing(Theme::kGap);
    auto *title = line(tr("Drop what your run left behind"), Ink::Text, 4, content, QFont::DemiBold);
    title->setAlignment(Qt::AlignCenter);
    auto *what =
        line(tr("Files and folders, all at once: each is known by its content. The run is laid under this plan, step "
                "by step, and every second of difference gets a name."),
            Ink::Muted, 0, content);
    what->setWrapped(true);
    what->setAlignment(Qt::AlignHCenter | Qt::AlignTop);
    column->addWidget(title);
    column->addWidget(what);
    column->addSpacing(Theme::kPad);
    auto *grid = new QGridLayout;
    grid->setHorizontalSpacing(Theme::kPad);
    grid->setVerticalSpacing(6);
    grid->setColumnMinimumWidth(0, kNameWidth);
    grid->setColumnStretch(1, 1);
    int row = 0;
    for (const Kind &kind : kKinds) {
        grid->addWidget(line(tr(kind.name), Ink::Text, -1, content, QFont::DemiBold), row, 0, Qt::AlignTop);
        auto *files = line(tr(kind.files), Ink::Muted, -1, content);
        files->setWrapped(true);
        grid->addWidget(files, row++, 1);
    }
    column->addLayout(grid);
    column->addSpacing(Theme::kPad);
    auto *buttons = new QHBoxLayout;
    buttons->setSpacing(Theme::kGap);
    buttons->addStretch(1);
    buttons->addWidget(open);
    buttons->addWidget(openFolder);
    buttons->addStretch(1);
    column->addLayout(buttons);
    auto *stays = line(tr("Everything is read on this machine; nothing leaves it."), Ink::Faint, -1, content);
    stays->setAlignment(Qt::AlignCenter);
    column->addWidget(stays);
    auto *outer = new QVBoxLayout(this);
    outer->addStretch(1);
    outer->addWidget(content, 0, Qt::AlignHCenter);
    outer->addStretch(1);
    open->setProperty("isPrimary", true);
}

void RunInvitation::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    QPen pen(theme().border, 2, Qt::CustomDashLine);
    pen.setDashPattern({ 4, 4 });
    painter.setPen(pen);
    painter.drawRoundedRect(QRectF(rect()).adjusted(kEdge, kEdge, -kEdge, -kEdge), 10, 10);
}

} // namespace trainyard
