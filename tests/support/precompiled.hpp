// The headers that nearly every test includes, compiled once. Each test still includes the headers
// that it uses, because builds without precompiled headers must work.
#pragma once

#include <gtest/gtest.h>
#include <muster/muster.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>
