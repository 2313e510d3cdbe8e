#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Where a page of the window is: made when it is first asked for, so that no start waits for pages that nobody opens.
// GUI thread.

#include <QVBoxLayout>
#include <QWidget>

#include <functional>
#include <utility>

namespace trainyard {

template <class Page> class PagePlace : public QWidget {
public:
    /// `make`: a page, wired. Called once.
    explicit PagePlace(std::function<Page *()> make)
        : m_make(std::move(make))
    {
    }
    [[nodiscard]] Page &page()
    {
        if (!m_page) {
            m_page = std::exchange(m_make, nullptr)();
            auto *column = new QVBoxLayout(this);
            column->setContentsMargins(0, 0, 0, 0);
            column->addWidget(m_page);
            static_cast<QWidget *>(m_page)->show(); // with its place, also where that is in sight already
        }
        return *m_page;
    }
    [[nodiscard]] bool isMade() const { return m_page; }

private:
    std::function<Page *()> m_make;
    Page *m_page = nullptr;
};

} // namespace trainyard
