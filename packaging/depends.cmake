# SPDX-License-Identifier: GPL-3.0-or-later
# What the packages need besides the libraries they are linked with, which dpkg-shlibdeps finds. cpack reads this when it
# runs: the packages of one version go together, and the version may be told to cpack (-R).
set(same_version "trainyard-cli (= ${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
set(CPACK_DEBIAN_GUI_PACKAGE_DEPENDS "${same_version}, fonts-dejavu-core, fonts-inter")
set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS "${same_version}, openmpi-bin")
