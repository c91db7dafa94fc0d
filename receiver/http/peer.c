#include "receiver/http/peer.h"

#include <netdb.h>
#include <sys/socket.h>

void peer_write(h2o_req_t *req, char out[PEER_MAX])
{
    struct sockaddr_storage address = {0};
    socklen_t len = req->conn->callbacks->get_peername(req->conn, (struct sockaddr *)&address);
    out[0] = '\0';
    if (len == 0 || (address.ss_family != AF_INET && address.ss_family != AF_INET6))
        return;
    if (getnameinfo((struct sockaddr *)&address, len, out, PEER_MAX, NULL, 0, NI_NUMERICHOST) != 0)
        out[0] = '\0';
}
