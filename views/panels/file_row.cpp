// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/file_row.h"

#include "models/text/foreign_text.h"
#include "views/panels/effect_columns.h"
#include "views/panels/strategy_entries.h"
#include "views/parts/text_line.h"
#include "views/theme/theme.h"

#include <QFileDialog>
#include <QFileInfo>
#include <QFontMetrics>
#include <QHBoxLayout>
#include <QPushButton>

namespace trainyard {

FileRow::FileRow(const QString &name, const QString &explanation, const QString &filter, QWidget *parent)
    : QWidget(parent)
    , m_name(name.trimmed())
    , m_explanation(explanation)
    , m_filter(filter)
    , m_button(new QPushButton(this))
{
    auto *label = new TextLine(name, Ink::Text, this);
    label->setToolTip(explanation);
    m_button->setAccessibleName(m_name);
    auto *layout = new QHBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(Theme::kGap);
    layout->addWidget(label, kNameShare);
    layout->addWidget(m_button, kControlShare);
    layout->addWidget(new EffectLine(this), kEffectShare); // nothing stands there, as wide as in the rows around it
    setMinimumHeight(QFontMetrics(uiFont(-1)).height() + 9); // as the rows around it
    for (QWidget *w : { static_cast<QWidget *>(label), static_cast<QWidget *>(m_button) })
        w->setSizePolicy(QSizePolicy::Ignored, w->sizePolicy().verticalPolicy());
    connect(m_button, &QPushButton::clicked, this, &FileRow::ask);
    setFile({});
}

void FileRow::setFile(const QString &path)
{
    m_path = path;
    m_button->setText(path.isEmpty() ? tr("choose a file…") : fileLabel(path));
    m_button->setToolTip(path.isEmpty() ? m_explanation : plainTip(pathText(path) + u'\n' + m_explanation));
}

void FileRow::ask()
{
    auto *dialog = new QFileDialog(this, m_name, QFileInfo(m_path).path(), m_filter);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::ExistingFile);
    connect(dialog, &QFileDialog::fileSelected, this, &FileRow::chosen);
    dialog->open();
}

} // namespace trainyard
