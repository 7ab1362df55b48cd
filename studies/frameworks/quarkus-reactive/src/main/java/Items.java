import io.quarkus.hibernate.reactive.panache.common.WithSession;
import io.quarkus.hibernate.reactive.panache.common.WithTransaction;
import io.quarkus.panache.common.Sort;
import io.smallrye.mutiny.Uni;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.NotFoundException;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.util.List;

/** Items of a table, over HTTP: an event loop serves all requests, none of which waits. */
@Path("/items")
@Produces(MediaType.APPLICATION_JSON)
@Consumes(MediaType.APPLICATION_JSON)
public class Items {
    @GET
    @Path("/{id}")
    @WithSession
    public Uni<Item> one(@PathParam("id") long id) {
        return Item.<Item>findById(id).onItem().ifNull().failWith(NotFoundException::new);
    }

    @GET
    @WithSession
    public Uni<List<Item>> list() {
        return Item.<Item>findAll(Sort.by("id")).page(0, 20).list();
    }

    @POST
    @WithTransaction
    public Uni<Response> add(Item item) {
        item.id = null;
        return item.<Item>persist().map(kept -> Response.status(201).entity(kept).build());
    }
}
