// A server and a client share one id space: each creates ids in its own key range, and claims ids
// of the other side by their exact value.
#include <muster/muster.hpp>

#include <iostream>

int main() {
    muster::id_pool<> server{{.last_key = 999'999}};
    muster::id_pool<> client{{.first_key = 1'000'000}};

    const muster::id monster = server.create();
    const muster::id effect = client.create();
    client.create_at(monster);  // received over the network
    std::cout << "monster " << monster << ", effect " << effect << '\n';

    // The server reuses the key. The client does not know yet: its id still names the monster.
    server.destroy(monster);
    const muster::id next = server.create();
    std::cout << "client knows " << monster << ": " << client.alive(monster) << ", " << next << ": "
              << client.alive(next) << '\n';

    client.destroy(monster);
    client.create_at(next);
    try {
        client.create_at(monster);  // a late packet
    } catch (const muster::error& e) {
        std::cout << to_string(e.code()) << ": " << e.what() << '\n';
    }
    for (const muster::id e : client) std::cout << "alive on the client: " << e << '\n';
}
