// C++ streams and containers: libstdc++ makes the calls.
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

int main()
{
    std::ifstream input("/etc/passwd");
    std::string line;
    int lines = 0;
    while (std::getline(input, line))
        lines++;
    std::cout << (lines > 0 ? "lines" : "nothing") << (input.bad() ? " bad" : " good") << std::endl;
    try {
        std::vector<char> memory(7654321);
        std::cout << "allocated" << std::endl;
    } catch (const std::bad_alloc &) {
        std::cout << "bad_alloc" << std::endl;
    }
    return 0;
}
