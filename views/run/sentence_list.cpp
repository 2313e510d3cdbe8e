// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/run/sentence_list.h"

#include "views/theme/theme.h"

#include <QVBoxLayout>

namespace trainyard {

SentenceList::SentenceList(Ink ink, int size, QWidget *parent)
    : QWidget(parent)
    , m_ink(ink)
    , m_size(size)
{
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(4);
    hide();
}

void SentenceList::setSentences(const QStringList &sentences)
{
    m_sentences = sentences;
    while (qsizetype(m_lines.size()) < sentences.size()) {
        auto *line = m_lines.emplace_back(new TextLine({}, m_ink, this));
        line->setWrapped(true);
        line->setFont(uiFont(m_size));
        layout()->addWidget(line);
    }
    for (std::size_t i = 0; i < m_lines.size(); ++i) {
        m_lines[i]->setText(sentences.value(qsizetype(i)));
        m_lines[i]->setVisible(qsizetype(i) < sentences.size());
    }
    setVisible(!sentences.isEmpty());
}

} // namespace trainyard
