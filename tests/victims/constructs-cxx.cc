// Exceptions, virtual functions, templates and coroutines: what is hard to clone.
#include <algorithm>
#include <coroutine>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>
struct guard {
    int *p;
    ~guard() { ++*p; }
};
static int thrower(int x)
{
    if (x % 2)
        throw std::string("odd");
    if (x % 3 == 0)
        throw x;
    return x;
}
static int count;
int catches(int x)
{
    guard g{&count};
    try {
        return thrower(x);
    } catch (const std::string &s) {
        return (int)s.size() * 10;
    } catch (int y) {
        return -y;
    }
}
struct base {
    virtual ~base() {}
    virtual int f(int) const { return 1; }
};
struct derived : base {
    int k = 4;
    int f(int x) const override { return x * k; }
};
template <class T> T sum(const std::vector<T> &v)
{
    T s{};
    for (auto &x : v)
        s += x;
    return s;
}
struct task {
    struct promise_type {
        int value;
        task get_return_object()
        {
            return {std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        std::suspend_always initial_suspend() { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        std::suspend_always yield_value(int v)
        {
            value = v;
            return {};
        }
        void return_void() {}
        void unhandled_exception() {}
    };
    std::coroutine_handle<promise_type> h;
};
task counter(int n)
{
    for (int i = 0; i < n; i++)
        co_yield i *i;
}
int main()
{
    for (int i = 0; i < 8; i++)
        std::cout << catches(i) << ' ';
    std::cout << count << '\n';
    std::unique_ptr<base> p = std::make_unique<derived>();
    std::map<std::string, int> m{{"a", 1}, {"b", p->f(5)}};
    for (auto &[k, v] : m)
        std::cout << k << '=' << v << ' ';
    std::vector<int> v{5, 3, 1};
    std::sort(v.begin(), v.end(), [](int a, int b) { return a < b; });
    std::cout << sum(v) << ' ' << v[0] << '\n';
    auto t = counter(4);
    while (t.h.resume(), !t.h.done())
        std::cout << t.h.promise().value << ' ';
    t.h.destroy();
    std::cout << '\n';
}
