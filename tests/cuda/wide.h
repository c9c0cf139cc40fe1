/* wide.h: in place of `const int32_t *`: numbers of nodes, of which an index is made by multiplying them with a width. On a GPU the product of two
 * ints is an int; here it does not compile. As a 64-bit integer a number of a node is what it is, and -Wconversion tells of all that is narrower. */
#ifndef WIDE_H
#define WIDE_H

#include <stdint.h>

#include <type_traits>

struct WideNode {
  int32_t number;
  operator int64_t() const { return number; }
};

template <class T> using IfNarrow = typename std::enable_if<(std::is_integral<T>::value || std::is_enum<T>::value) && sizeof(T) < 8, int>::type;
template <class T, IfNarrow<T> = 0> int64_t operator*(WideNode, T) = delete;
template <class T, IfNarrow<T> = 0> int64_t operator*(T, WideNode) = delete;
template <class T, IfNarrow<T> = 0> int64_t operator<<(WideNode, T) = delete;
int64_t operator*(WideNode, WideNode) = delete;

#endif
