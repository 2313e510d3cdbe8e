#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What Qt says about the platform that the window is shown on, put into words for who started the program: where no
// display can be opened, one sentence and exit code 2 in place of Qt's list of plugins and its abort; and nothing of
// what a machine without a screen has not. Everything else goes on to where messages went before. GUI thread.

namespace trainyard {

class PlatformMessages {
public:
    /// Listens from now on. Made before the application is.
    PlatformMessages();
    /// puts back who listened before
    ~PlatformMessages();
    PlatformMessages(const PlatformMessages &) = delete;
    PlatformMessages &operator=(const PlatformMessages &) = delete;

    /// The application is made: what is fatal from now on is something else.
    static void platformIsThere();
};

} // namespace trainyard
